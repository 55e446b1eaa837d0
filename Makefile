# tiered_storage: plain PGXS, plus the commands that the README names.
EXTENSION = tiered_storage
# The control file is the one source of the version.
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" tiered_storage.control)

MODULE_big = tiered_storage
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c)))
DATA = $(wildcard src/sql/tiered_storage--*.sql)
PG_CPPFLAGS = -DTIER_VERSION='"$(EXTVERSION)"'
# Stop points and faults for the tests of the mover; never in what ships.
ifdef TIER_DEBUG
PG_CPPFLAGS += -DTIER_DEBUG
endif

REGRESS = $(sort $(basename $(notdir $(wildcard sql/*.sql))))
REGRESS_OPTS = --inputdir=.
ISOLATION = $(sort $(basename $(notdir $(wildcard test/isolation/specs/*.spec))))
ISOLATION_OPTS = --inputdir=test/isolation
# From 18 on GRANT locks the relation, so that it waits where this is about that
# it does not.
ISOLATION_BEFORE_18 = move_grant

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

ifneq ($(filter 15 16 17,$(MAJORVERSION)),)
ISOLATION_BEFORE_18 =
endif
ISOLATION := $(filter-out $(ISOLATION_BEFORE_18),$(ISOLATION))

$(OBJS): $(wildcard src/*.h) tiered_storage.control

# For scripts that need a variable of this file.
print-%:
	@echo '$($*)'

.PHONY: check-all check-matrix check-unit lint demo
check-all:
	.ci/check-all
check-matrix:
	.ci/matrix
check-unit:
	test/unit/run
lint:
	.ci/lint
demo:
	./demo
