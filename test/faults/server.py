"""A throw-away PostgreSQL server, connections to it, and the fault shim's control.

Standard library only.  test/powerloss uses the server and the connections, too.
"""

import ctypes
import errno
import grp
import mmap
import os
import pwd
import select
import shutil
import signal
import socket
import struct
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# No statement of these tests takes nearly as long; a server that hangs fails the test.
PATIENCE_S = 120.0


class Problem(Exception):
    """What the test is about has gone wrong."""


class SqlError(Exception):
    def __init__(self, fields):
        self.sqlstate = fields.get("C", "")
        self.severity = fields.get("V", "")
        self.message = fields.get("M", "")
        super().__init__(f"{self.severity} {self.sqlstate}: {self.message}")


class Lost(Exception):
    """The connection is gone."""


class Connection:
    """The simple query protocol over a Unix socket."""

    def __init__(self, directory, database="postgres", user="postgres", port=5432, options=""):
        self.buffer = b""
        self.pid = 0
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.socket.connect(f"{directory}/.s.PGSQL.{port}")
            self._greet(database, user, options)
        except OSError as error:
            self.socket.close()
            raise Lost(str(error)) from error
        except (Lost, SqlError):
            self.socket.close()
            raise

    def _greet(self, database, user, options):
        body = struct.pack("!i", 196608)
        for name, value in (("user", user), ("database", database), ("options", options)):
            if value:
                body += name.encode() + b"\0" + value.encode() + b"\0"
        body += b"\0"
        self.socket.sendall(struct.pack("!i", len(body) + 4) + body)
        self.result()

    def close(self):
        self.socket.close()

    def _fill(self, size, deadline):
        while len(self.buffer) < size:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Problem(f"no answer from process {self.pid} within {PATIENCE_S:.0f} s")
            if not select.select([self.socket], [], [], left)[0]:
                continue
            data = self.socket.recv(65536)
            if not data:
                raise Lost("the server closed the connection")
            self.buffer += data

    def _message(self, deadline):
        self._fill(5, deadline)
        kind = self.buffer[:1]
        length = struct.unpack("!i", self.buffer[1:5])[0]
        self._fill(1 + length, deadline)
        body = self.buffer[5:1 + length]
        self.buffer = self.buffer[1 + length:]
        return kind, body

    def send(self, sql):
        """Starts a statement; result() waits for it."""
        body = sql.encode() + b"\0"
        try:
            self.socket.sendall(b"Q" + struct.pack("!i", len(body) + 4) + body)
        except OSError as error:
            raise Lost(str(error)) from error

    def is_ready(self):
        """Something has come: an answer, or the end of the connection."""
        return bool(self.buffer) or bool(select.select([self.socket], [], [], 0)[0])

    def result(self):
        rows = []
        error = None
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                kind, body = self._message(deadline)
            except OSError as gone:
                raise Lost(str(gone)) from gone
            except Lost as gone:
                raise Lost(f"{gone}{': ' + str(error) if error else ''}") from gone
            if kind == b"D":
                rows.append(self._row(body))
            elif kind == b"E":
                error = SqlError({part[:1].decode(): part[1:].decode(errors="replace")
                                  for part in body.split(b"\0") if part})
            elif kind == b"K":
                self.pid = struct.unpack("!i", body[:4])[0]
            elif kind == b"R" and struct.unpack("!i", body[:4])[0] != 0:
                raise Problem("the server wants a password")
            elif kind == b"Z":
                if error:
                    raise error
                return rows

    @staticmethod
    def _row(body):
        values = []
        place = 2
        for _ in range(struct.unpack("!h", body[:2])[0]):
            size = struct.unpack("!i", body[place:place + 4])[0]
            place += 4
            if size < 0:
                values.append(None)
            else:
                values.append(body[place:place + size].decode())
                place += size
        return tuple(values)

    def query(self, sql):
        self.send(sql)
        return self.result()

    def value(self, sql):
        return self.query(sql)[0][0]


def run_as():
    """Arguments of subprocess that make root somebody who may run a server."""
    if os.geteuid() != 0:
        return {}
    name = os.environ.get("TEST_USER", "")
    for candidate in (name, "postgres", "nobody"):
        try:
            user = pwd.getpwnam(candidate)
            break
        except KeyError:
            continue
    else:
        raise SystemExit("nobody to run the server: set TEST_USER")
    groups = [entry.gr_gid for entry in grp.getgrall() if user.pw_name in entry.gr_mem]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": groups + [user.pw_gid]}


def give_away(path):
    owner = run_as()
    if owner:
        os.chown(path, owner["user"], owner["group"])


class Server:
    """One data directory below `directory`, and who listens in `socket_directory`."""

    def __init__(self, pg_config, directory, socket_directory=None, log=None):
        self.bindir = subprocess.check_output([pg_config, "--bindir"], text=True).strip()
        version = subprocess.check_output([pg_config, "--version"], text=True)
        self.major = int("".join(c if c.isdigit() else " " for c in version).split()[0])
        self.version = version.split()[1]
        self.directory = directory
        self.data = f"{directory}/data"
        self.socket_directory = socket_directory or directory
        self.log = log or f"{directory}/server.log"
        self.environment = dict(
            (name, value) for name, value in os.environ.items()
            if not name.startswith("PG") and name != "LD_PRELOAD")
        self.environment["LC_ALL"] = "C.UTF-8"

    def command(self, name, *arguments, check=True, environment=None):
        done = subprocess.run(
            [f"{self.bindir}/{name}", *arguments], cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env=environment or self.environment, check=False, **run_as())
        if check and done.returncode != 0:
            raise Problem(f"{name}: {done.stdout.strip()}")
        return done

    def initdb(self, settings, *options):
        self.command("initdb", "--no-sync", "--username=postgres", "--auth=trust", "--encoding=UTF8",
                     "--locale=C.UTF-8", "--data-checksums", f"--pgdata={self.data}", *options)
        if self.major >= 18:
            settings = {"io_method": "sync", **settings}
        with open(f"{self.data}/postgresql.conf", "a", encoding="utf-8") as file:
            for name, value in {
                    "listen_addresses": "",
                    "unix_socket_directories": self.socket_directory,
                    "log_line_prefix": "%m [%p] %q%a ",
                    **settings}.items():
                file.write(f"{name} = '{value}'\n")

    def start(self, preload=None, check=True, options=""):
        """Whether it runs; pg_ctl's children keep its output open, so that is a file."""
        environment = dict(self.environment)
        if preload:
            environment.update(preload)
        arguments = [f"{self.bindir}/pg_ctl", f"--pgdata={self.data}", f"--log={self.log}", "--timeout=90",
                     "--wait", "--silent"]
        if options:
            arguments += ["-o", options]
        with open(f"{self.directory}/pg_ctl.log", "w", encoding="utf-8") as output:
            done = subprocess.run(arguments + ["start"], cwd="/", stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, env=environment, check=False, **run_as())
        if done.returncode != 0 and check:
            raise Problem("the server does not start")
        return done.returncode == 0

    def postmaster(self):
        """Its PID, or 0 when it does not run."""
        try:
            with open(f"{self.data}/postmaster.pid", encoding="ascii") as file:
                pid = int(file.readline())
            os.kill(pid, 0)
            return pid
        except (OSError, ValueError):
            return 0

    def stop(self, mode="fast"):
        if self.postmaster():
            self.command("pg_ctl", f"--pgdata={self.data}", f"--mode={mode}", "--timeout=60", "--wait",
                         "--silent", "stop", check=mode == "fast")

    def kill(self):
        """For the end of the test: whatever it is doing."""
        pid = self.postmaster()
        if pid <= 1:
            return
        try:
            os.kill(pid, signal.SIGQUIT)
            for _ in range(100):
                if not self.postmaster():
                    return
                time.sleep(0.1)
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass

    def connect(self, database="postgres", options=""):
        return Connection(self.socket_directory, database, options=options)

    def connect_when_up(self, database="postgres", options="", preload=None):
        """After a crash: the server comes back by itself, or is started again."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                return self.connect(database, options)
            except Lost as error:
                if not self.postmaster():
                    self.start(preload)
                last = error
            except SqlError as error:
                if error.sqlstate not in ("57P03", "57P02", "57P01"):
                    raise
                last = error
            time.sleep(0.01)
        raise Problem(f"no connection after a crash within {PATIENCE_S:.0f} s: {last}")

    def log_size(self):
        try:
            return os.stat(self.log).st_size
        except OSError:
            return 0

    def log_since(self, offset):
        try:
            with open(self.log, "rb") as file:
                file.seek(offset)
                return file.read().decode(errors="replace")
        except OSError:
            return ""


# ---------------------------------------------------------------------------
# The shim
# ---------------------------------------------------------------------------

CLASSES = ["open", "read", "write", "sync", "truncate", "unlink", "allocate", "seek", "rename", "close",
           "mkdir", "stat"]
ALL_CLASSES = (1 << len(CLASSES)) - 1
COUNT, FAIL, HALVE, KILL, HALVE_AND_KILL = range(5)
ANY_WITH_TITLE = -1
FOR_EVER = 0xFFFFFFFF

MAGIC = 0x54464C54
PATH_LENGTH = 240
TRACE_LENGTH = 8192


class Call(ctypes.Structure):
    _fields_ = [("class_", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("name", ctypes.c_char * 16),
                ("path", ctypes.c_char * PATH_LENGTH)]

    def text(self):
        return f"{self.name.decode()} {self.path.decode(errors='replace')}"


class Layout(ctypes.Structure):
    """As in fault_shim.c."""
    _fields_ = [("magic", ctypes.c_uint32), ("pid", ctypes.c_int32), ("classes", ctypes.c_uint32),
                ("action", ctypes.c_uint32), ("error", ctypes.c_int32), ("first", ctypes.c_uint32),
                ("last", ctypes.c_uint32), ("counted", ctypes.c_uint32), ("fired", ctypes.c_uint32),
                ("no_sync", ctypes.c_uint32), ("trace", ctypes.c_uint32), ("title", ctypes.c_char * 36),
                ("no_sync_path", ctypes.c_char * 64), ("path", ctypes.c_char * PATH_LENGTH), ("failed", Call), ("calls", Call * TRACE_LENGTH)]


class Shim:
    def __init__(self, directory):
        self.library = f"{directory}/fault_shim.so"
        self.file = f"{directory}/control"
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", self.library,
                        f"{HERE}/fault_shim.c", "-ldl"], check=True)
        with open(self.file, "wb") as file:
            file.truncate(ctypes.sizeof(Layout))
        give_away(self.file)
        with open(self.file, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), ctypes.sizeof(Layout))
        self.control = Layout.from_buffer(self.memory)
        self.control.magic = MAGIC
        os.chmod(self.library, 0o755)

    def environment(self):
        return {"LD_PRELOAD": self.library, "TIER_FAULT_CONTROL": self.file}

    def arm(self, pid, action=COUNT, error=errno.EIO, first=1, last=None, classes=ALL_CLASSES, path="", title="",
            trace=False):
        control = self.control
        control.pid = 0
        control.classes = classes
        control.action = action
        control.error = error
        control.first = first
        control.last = first if last is None else last
        control.counted = control.fired = 0
        control.title = title.encode()
        control.path = path.encode()
        control.trace = trace
        control.pid = pid

    def disarm(self):
        self.control.pid = 0

    def trace(self):
        return [(self.control.calls[i].class_, self.control.calls[i].name.decode(),
                 self.control.calls[i].path.decode(errors="replace"))
                for i in range(min(self.control.counted, TRACE_LENGTH))]


def remove_tree(path):
    shutil.rmtree(path, ignore_errors=True)
