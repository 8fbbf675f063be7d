# syntax=docker/dockerfile:1
# scripts/prove-image.ts performs these steps without a container engine: keep to ARG, FROM, WORKDIR, ENV, COPY, RUN, VOLUME, USER, CMD and the like.

# A tag moves. To pin what you have tested, build with --build-arg BASE_IMAGE=node:26-trixie-slim@sha256:… (docs/first-deployment.md, "Build the image").
ARG BASE_IMAGE=node:26-trixie-slim

FROM ${BASE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc LICENSE ./
COPY telemetry ./telemetry
# Behind a proxy that inspects TLS: its authority. With a registry of your own: its address, and what it asks for.
RUN --mount=type=secret,id=ca,target=/run/ca.pem --mount=type=secret,id=npmrc,target=/root/.npmrc \
  if [ -f /run/ca.pem ]; then export NODE_EXTRA_CA_CERTS=/run/ca.pem; fi; npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.js ./scripts/
COPY scripts/build ./scripts/build
COPY scripts/run/nodeVersion.js scripts/run/sourceMap.js ./scripts/run/
COPY page ./page
COPY src ./src
COPY backend-kit ./backend-kit
RUN npm run build:service
RUN mkdir volume

FROM ${BASE_IMAGE}
# For the first line of the log: --build-arg COMMIT=$(git rev-parse HEAD)
ARG COMMIT=unknown
# Where you keep docs/: --build-arg PAGES=https://…/docs/
ARG PAGES=
LABEL org.opencontainers.image.title=device-messaging-service
LABEL org.opencontainers.image.description="Carries device messages from an Azure IoT Hub to your backends and answers the devices"
LABEL org.opencontainers.image.version=1.1.0
LABEL org.opencontainers.image.revision=${COMMIT}
LABEL org.opencontainers.image.documentation=${PAGES}
LABEL org.opencontainers.image.licenses=MIT
ENV BUILD_COMMIT=${COMMIT}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
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
