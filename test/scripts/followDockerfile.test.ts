import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { followDockerfile } from '../../scripts/image/followDockerfile.ts';

describe('a Dockerfile is followed without an engine', () => {
  const folder = folderForEach('dockerfile');
  const follow = (lines: readonly string[]) => {
    const context = join(folder, 'context');
    mkdirSync(context, { recursive: true });
    for (const name of ['seen', 'hidden']) writeFileSync(join(context, name), name);
    writeFileSync(join(context, '.dockerignore'), '*\n!seen\n');
    writeFileSync(join(context, 'Dockerfile'), `${lines.join('\n')}\n`);
    return followDockerfile(context, join(folder, 'stages'), { node: process.execPath, say: () => undefined });
  };

  it('as far as the last stage, with no secret of the build', async () => {
    const image = await follow([
      ...['ARG COMMIT=unknown', 'FROM any AS build', 'WORKDIR /app', 'COPY seen ./'],
      'RUN --mount=type=secret,id=ca,target=/run/ca-of-nobody --mount=type=secret,id=b \\',
      '  if [ -f /run/ca-of-nobody ]; then exit 1; fi; cp seen made',
      ...['FROM any', `ENV BUILD_COMMIT=\${COMMIT}`, 'WORKDIR /app', 'COPY --from=build /app/made ./', 'VOLUME /data'],
      ...['USER 1000:1000', 'EXPOSE 8080', 'HEALTHCHECK --retries=3 CMD ["node", "-v"]', 'CMD ["node", "main.js"]'],
    ]);
    expect(readFileSync(join(image.root, 'app/made'), 'utf8')).toBe('seen');
    expect(existsSync(join(image.root, 'app/seen'))).toBe(false);
    expect(image).toMatchObject({
      ...{ workdir: '/app', volumes: ['/data'], user: '1000:1000', ports: ['8080'], command: ['node', 'main.js'] },
      ...{ environment: { BUILD_COMMIT: 'unknown' }, healthCheck: ['node', '-v'] },
    });
  });
  it.each([
    ['a step that fails', ['FROM any', 'RUN exit 7'], 'RUN exit 7 failed'],
    ['a file that .dockerignore hides', ['FROM any', 'COPY hidden ./'], '.dockerignore hides hidden'],
    ['an instruction that it does not know', ['FROM any', 'ONBUILD RUN true'], 'ONBUILD is not understood'],
    ['root as its user', ['FROM any', 'USER 0:0'], 'must be two numbers, and not root'],
  ])('not with %s', (_, lines, why) => expect(follow(lines)).rejects.toThrow(why));
});
