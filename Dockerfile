# Builds posenc in one Debian 12 stage and ships the two programs in another.
#   docker build --build-arg REVISION=$(git rev-parse --short=12 HEAD) -t posenc .
#   docker run --rm -p 50051:50051 -p 9464:9464 posenc

FROM docker.io/library/debian:bookworm-slim AS build
WORKDIR /src
COPY deploy/setup.sh deploy/packages.txt deploy/
RUN bash -c 'source deploy/setup.sh && install_missing build' && rm -rf /var/lib/apt/lists/*
COPY CMakeLists.txt CMakePresets.json ./
COPY proto proto
COPY server server
COPY client client
# The sources come without git: the revision is told.
ARG REVISION=unknown
RUN bash -c "source deploy/setup.sh && configure_and_build -DPOSENC_BUILD_TESTS=OFF -DPOSENC_REVISION=$REVISION" \
 && strip build/release/bin/posenc build/release/bin/posenc-server

FROM docker.io/library/debian:bookworm-slim
LABEL org.opencontainers.image.title="posenc" \
      org.opencontainers.image.description="Positional-encoding tables over gRPC"
COPY deploy/setup.sh deploy/packages.txt /tmp/posenc/deploy/
RUN bash -c 'source /tmp/posenc/deploy/setup.sh && install_missing runtime' \
 && rm -rf /tmp/posenc /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/* /usr/share/doc /usr/share/man
COPY --from=build /src/build/release/bin/posenc /src/build/release/bin/posenc-server /usr/bin/
USER 65532:65532
EXPOSE 50051 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/usr/bin/posenc", "health"]
ENTRYPOINT ["/usr/bin/posenc-server"]
ARG REVISION=unknown
LABEL org.opencontainers.image.revision="$REVISION"
