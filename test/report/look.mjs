// Looks at a page of report() with Chromium: axe-core, what the console says, requests to
// elsewhere, what does not fit; and makes pictures of it.
//
//   node look.mjs PAGE.html FOLDER CHROMIUM
//
// Exit status 1 if something is wrong.  puppeteer-core and axe-core are in
// FOLDER/node_modules.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const [page_file, folder, chromium] = process.argv.slice(2);
const require = createRequire(resolve(folder) + '/');
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const url = 'file://' + resolve(page_file);
let faults = 0;

function fault(what) {
	console.log('FAULT: ' + what);
	faults++;
}

const browser = await puppeteer.launch({
	executablePath: chromium,
	args: ['--no-sandbox', '--disable-gpu', '--allow-file-access-from-files'],
});

async function open(width, scheme) {
	const page = await browser.newPage();
	page.on('console', (message) => fault(`console, ${width} ${scheme}: ${message.text()}`));
	page.on('pageerror', (error) => fault(`script, ${width} ${scheme}: ${error}`));
	page.on('request', (request) => {
		if (request.url() !== url && !request.url().startsWith('data:')) {
			fault(`request to ${request.url()}`);
		}
	});
	await page.setViewport({ width, height: 900 });
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
	await page.goto(url);
	return page;
}

for (const width of [1200, 390]) {
	for (const scheme of ['light', 'dark']) {
		const page = await open(width, scheme);
		// The page itself has no script: there is nothing to run but what is injected here.
		if (await page.$('script, iframe, object, embed, img, form, [onclick], [onload]')) {
			fault('the page has more than text and pictures');
		}
		const wide = await page.evaluate(
			() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
		if (wide > 0) {
			fault(`at ${width} pixels the page is ${wide} too wide`);
		}
		// Only what is on the paper of a picture: text that its frame would cut off.
		const cut = await page.evaluate(() => [...document.querySelectorAll('svg.chart')].flatMap(
			(svg) => {
				const frame = svg.getBoundingClientRect();
				return [...svg.querySelectorAll('text')].filter((text) => {
					const box = text.getBoundingClientRect();
					return box.left < frame.left - 1 || box.right > frame.right + 1 ||
						box.top < frame.top - 2 || box.bottom > frame.bottom + 2;
				}).map((text) => text.textContent);
			}));
		for (const text of cut) {
			fault(`at ${width} pixels a label is cut: ${text}`);
		}
		await page.screenshot({ path: `${folder}/${scheme}-${width}.png`, fullPage: true });
		if (width === 1200) {
			await page.screenshot({ path: `${folder}/${scheme}-first.png` });
		}
		await page.evaluate(
			() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
		// axe cannot tell a contrast on the shadows at the edges of what scrolls.
		await page.addStyleTag({ content: '.scroll{background:none!important}' });
		await page.evaluate(axe);
		const result = await page.evaluate(() => axe.run());
		for (const violation of result.violations) {
			fault(`axe, ${width} ${scheme}: ${violation.id}: ${violation.help}: ` +
				violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | '));
		}
		console.log(`${width} pixels, ${scheme}: ${result.passes.length} rules of axe passed`);
		await page.close();
	}
}
// For the README: what is to be seen without the tables beneath it.
const picture = await open(1000, 'light');
await picture.addStyleTag({ content: 'section:not(#answer):not(#tiers):not(#heat),' +
	'nav,details,.scroll:has(table),footer{display:none!important}main{padding-bottom:1px}' });
await picture.screenshot({ path: `${folder}/report.png`,
	clip: { x: 0, y: 0, width: 1000, height: 1180 } });
await picture.close();
const page = await open(1200, 'light');
await page.pdf({ path: `${folder}/print.pdf`, format: 'A4', preferCSSPageSize: true });
await browser.close();
process.exit(faults > 0 ? 1 : 0);
