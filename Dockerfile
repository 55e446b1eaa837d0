# The official image of PostgreSQL with the extension, preloaded:
#
#   docker build --build-arg PG_MAJOR=17 -t postgres-tiered-storage:17 .
#   docker run -e POSTGRES_PASSWORD=... -v fast:/var/lib/postgresql/data \
#       -v slow:/srv/slow postgres-tiered-storage:17
#
# (From 18 on the data are in /var/lib/postgresql.)  A target of its own, "extension",
# has the files of the extension alone, in the layout of CloudNativePG's extension images.
ARG PG_MAJOR=17
ARG DEBIAN=bookworm

FROM postgres:${PG_MAJOR}-${DEBIAN} AS build
ARG PG_MAJOR
# The newest minor release is what one wants.
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install -y --no-install-recommends gcc libc6-dev make \
        "postgresql-server-dev-${PG_MAJOR}" && \
    rm -rf /var/lib/apt/lists/*
COPY . /src
# /extension: what CloudNativePG mounts, without the folders of one major.
RUN PG_CONFIG=/usr/lib/postgresql/${PG_MAJOR}/bin/pg_config && \
    make -C /src -j"$(nproc)" with_llvm=no PG_CONFIG="${PG_CONFIG}" && \
    make -C /src install with_llvm=no PG_CONFIG="${PG_CONFIG}" DESTDIR=/image && \
    mkdir -p /extension/lib /extension/share && \
    cp "/image$(${PG_CONFIG} --pkglibdir)"/tiered_storage*.so /extension/lib/ && \
    cp -R "/image$(${PG_CONFIG} --sharedir)/extension" /extension/share/

FROM scratch AS extension
COPY --from=build /extension/ /

FROM postgres:${PG_MAJOR}-${DEBIAN}
COPY --from=build /image/ /
# The sample is read by initdb, so it holds for data folders that are made with this image.
# /srv/slow is somewhere to mount the slow disk, for a tablespace.
RUN echo "shared_preload_libraries = 'tiered_storage'" \
        >>/usr/share/postgresql/postgresql.conf.sample && \
    install -d -o postgres -g postgres -m 700 /srv/slow
