# The program bundled with every package it needs: the image holds Node, dist/, docs, schemas and examples, and no node_modules.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN node .config/build.ts

FROM node:24.21.0-bookworm-slim
# git: the source is read from git objects. gpg and ssh-keygen: git checks signatures of commits with them. tini: see ENTRYPOINT.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git gpg openssh-client tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/package.json /app/README.md /app/LICENSE ./
COPY --from=build /app/dist ./dist
COPY --from=build /app/schemas ./schemas
COPY --from=build /app/examples ./examples
COPY --from=build /app/docs ./docs
# The one writable place: ledger and compile cache. Mount a volume here, and the root may be read-only.
RUN install --directory --owner=node --group=node /var/lib/portolan
# Two pools for the allocator: with one for each thread, which it makes by default, memory grows for an hour before it stays.
ENV NODE_ENV=production \
  MALLOC_ARENA_MAX=2 \
  XDG_CACHE_HOME=/var/lib/portolan/cache \
  PORTOLAN_LEDGER=/var/lib/portolan/portolan.db
VOLUME /var/lib/portolan
# By number: Kubernetes cannot tell from a name that a user is not root.
USER 1000:1000
WORKDIR /var/lib/portolan
EXPOSE 7780
# Of `run`; a container of another command needs a check of its own. It asks this container over loopback, so it trusts any certificate.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "--no-warnings", "-e", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; const signal = AbortSignal.timeout(4000); const ask = (url) => fetch(url, { signal }); const url = process.env.PORTOLAN_HEALTH_URL; const asked = url ? ask(url) : ask('http://127.0.0.1:7780/healthz').catch(() => ask('https://127.0.0.1:7780/healthz')); asked.then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# As process 1, Node would keep as zombies the helpers of each git that was killed because a forge hung, until no process can start.
ENTRYPOINT ["tini", "--", "node", "/app/dist/portolan.js"]
CMD ["run"]
