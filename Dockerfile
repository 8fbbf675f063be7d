# syntax=docker/dockerfile:1
# scripts/prove-image.ts performs these steps without a container engine: keep to ARG, FROM, WORKDIR, ENV, COPY, RUN, VOLUME, USER, CMD and the like.

# A tag moves. To pin what you have tested, build with --build-arg BASE_IMAGE=node:22-bookworm-slim@sha256:… (docs/first-deployment.md, "Build the image").
ARG BASE_IMAGE=node:22-bookworm-slim

FROM ${BASE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY telemetry ./telemetry
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.js ./scripts/
COPY scripts/run/nodeVersion.js scripts/run/sourceMap.js ./scripts/run/
COPY src ./src
RUN npm run build:service
RUN npm prune --omit=dev
RUN mkdir volume

FROM ${BASE_IMAGE}
# For the first line of the log: --build-arg COMMIT=$(git rev-parse HEAD)
ARG COMMIT=unknown
ENV BUILD_COMMIT=${COMMIT}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json ./
COPY config ./config
# All that the service writes. 1000 is `node` of the base image: as a number, because Kubernetes cannot see that a name is not root.
COPY --from=build --chown=1000:1000 /app/volume /data
ENV DATA_DIRECTORY=/data
VOLUME /data
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HTTP_PORT ?? 8080}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "dist/main.js"]
