# tiered_storage: plain PGXS, plus the commands that the README names, and a second library
# and extension, tiered_storage_citus, of src/citus.
EXTENSION = tiered_storage tiered_storage_citus
MODULE_big = tiered_storage

# Where the sources are: beside this file, also when something is built elsewhere
# (make -f SRC/Makefile, with VPATH=SRC or without).
SRC := $(or $(VPATH),$(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST)))))
sources = $(patsubst $(SRC)/%,%,$(sort $(wildcard $(addprefix $(SRC)/,$(1)))))

# The control file is the one source of the version.
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(SRC)/tiered_storage.control)
ALL_OBJS := $(patsubst %.c,%.o,$(call sources,src/*.c src/*/*.c src/*/*/*.c))
CITUS_OBJS := $(filter src/citus/%,$(ALL_OBJS))
OBJS := $(filter-out $(CITUS_OBJS),$(ALL_OBJS))
INCLUDED := $(call sources,src/*.h src/*/*.h src/*/*/*.h)
# The install script is made of its topics, in the order of their numbers.  Beside them are the
# update scripts, src/sql/tiered_storage--OLD--NEW.sql.
TOPICS := $(call sources,src/sql/[0-9][0-9]_*.sql)
EXTENSION_SCRIPT := tiered_storage--$(EXTVERSION).sql
CITUS_SCRIPT := tiered_storage_citus--$(EXTVERSION).sql
DATA := $(call sources,src/sql/tiered_storage--*--*.sql)
DATA_built = $(EXTENSION_SCRIPT) $(CITUS_SCRIPT)
ifeq ($(and $(EXTVERSION),$(OBJS),$(CITUS_OBJS),$(TOPICS)),)
$(error no sources of tiered_storage in "$(SRC)")
endif
# VPATH would find these, and the build would take them for its own.
ifneq ($(realpath $(SRC)),$(CURDIR))
ifneq ($(wildcard $(addprefix $(SRC)/,tiered_storage.so $(ALL_OBJS) $(OBJS:.o=.bc))),)
$(error "$(SRC)" was built in place: run "make clean" there first)
endif
endif
# Beside what somebody gives on the command line.
override PG_CPPFLAGS += -I$(SRC) -I$(libpq_srcdir) -DTIER_VERSION='"$(EXTVERSION)"'
# Standbys are read by libpq.
SHLIB_LINK += $(libpq)
# Stop points and faults for the tests of the mover; never in what ships.
ifdef TIER_DEBUG
override PG_CPPFLAGS += -DTIER_DEBUG
endif

REGRESS = $(basename $(notdir $(call sources,sql/*.sql)))
ISOLATION = $(basename $(notdir $(call sources,test/isolation/specs/*.spec)))
ISOLATION_OPTS = --inputdir=$(SRC)/test/isolation --launcher=$(SRC)/test/isolation/run-spec
# From 18 on GRANT locks the relation, so that it waits where this is about that
# it does not.
ISOLATION_BEFORE_18 = move_grant
# These stop the mover at a point, or set a constant, which only a library with TIER_DEBUG can do.
ifndef TIER_DEBUG
NEEDS_DEBUG = -e '^.include stop_points' -e 'tiered_storage[.]debug_'
ISOLATION_DEBUG := $(shell grep -ls $(NEEDS_DEBUG) $(SRC)/test/isolation/specs/*.spec)
ISOLATION_DEBUG := $(basename $(notdir $(ISOLATION_DEBUG)))
endif
EXTRA_CLEAN = $(CITUS_OBJS) tiered_storage_citus.so

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
else
# These work without a server, or install one.
ifneq ($(filter-out test lint demo% dist check-unit check-all print-%,$(or $(MAKECMDGOALS),all)),)
$(error "$(PG_CONFIG)" finds no development files of a PostgreSQL server. Install them \
	(Debian, Ubuntu: postgresql-server-dev-NN; Red Hat: postgresqlNN-devel), or say which \
	server with PG_CONFIG=/path/to/pg_config)
endif
endif

ifneq ($(filter 15 16 17,$(MAJORVERSION)),)
ISOLATION_BEFORE_18 =
endif
ISOLATION := $(filter-out $(ISOLATION_BEFORE_18) $(ISOLATION_DEBUG),$(ISOLATION))

# A server that was packaged without the test drivers.
left_out = @echo 'installcheck: all $(1) tests are left out: there is no $(2)' &&:
ifeq ($(wildcard $(top_builddir)/src/test/regress/pg_regress$(X)),)
pg_regress_installcheck = $(call left_out,regression,pg_regress)
endif
ifeq ($(wildcard $(top_builddir)/src/test/isolation/pg_isolation_regress$(X)),)
pg_isolation_regress_installcheck = $(call left_out,isolation,pg_isolation_regress)
endif

# Nobody shall take a part for the whole.
ifneq ($(ISOLATION_DEBUG),)
.PHONY: installcheck-left-out
installcheck: installcheck-left-out
installcheck-left-out:
	@echo 'installcheck: $(words $(ISOLATION_DEBUG)) isolation tests are left out, which need a' \
		'library built with TIER_DEBUG=1 (test/run-suite isolation makes one):'
	@echo '   ' $(ISOLATION_DEBUG)
endif

# The folders of an out-of-tree build; by their full names, or VPATH would find those
# of the sources.
FOLDERS := $(patsubst %/,$(CURDIR)/%,$(sort $(dir $(ALL_OBJS))))
$(ALL_OBJS) $(OBJS:.o=.bc): $(INCLUDED) tiered_storage.control | $(FOLDERS)
$(FOLDERS):
	mkdir -p $@

# PGXS makes one library.  No bitcode: the functions of the second one only wait for nodes.
CITUS_LIBRARY := tiered_storage_citus$(DLSUFFIX)
all: $(CITUS_LIBRARY)
$(CITUS_LIBRARY): $(CITUS_OBJS)
	$(CC) $(CFLAGS) $^ $(LDFLAGS) $(LDFLAGS_SL) -shared -o $@
.PHONY: install-citus uninstall-citus
install: install-citus
install-citus: $(CITUS_LIBRARY) installdirs
	$(INSTALL_SHLIB) $< '$(DESTDIR)$(pkglibdir)/$(CITUS_LIBRARY)'
uninstall: uninstall-citus
uninstall-citus:
	rm -f '$(DESTDIR)$(pkglibdir)/$(CITUS_LIBRARY)'

# Made anew each time: a topic may have gone, and VPATH may have an old one.
.PHONY: $(EXTENSION_SCRIPT) $(CITUS_SCRIPT)
$(EXTENSION_SCRIPT): $(TOPICS)
	cat $^ >$@
$(CITUS_SCRIPT): $(call sources,src/citus/[0-9][0-9]_*.sql)
	cat $^ >$@

# For scripts that need a variable of this file.
print-%:
	@echo '$($*)'

.PHONY: test check-all check-build check-matrix check-package check-unit dist lint demo demo-object
test:
	$(SRC)/.ci/test
check-all:
	$(SRC)/.ci/check-all
check-build:
	$(SRC)/test/build/run
check-matrix:
	$(SRC)/.ci/matrix
check-package:
	$(SRC)/test/package/run
check-unit:
	$(SRC)/test/unit/run
dist:
	$(SRC)/packaging/dist
lint:
	$(SRC)/.ci/lint
demo:
	$(SRC)/demo
demo-object:
	$(SRC)/demo.d/object
