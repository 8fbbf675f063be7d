import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The arguments of Node.js with which the image of a build starts its program: flags, and the file within the build.
 * @param build the folder of a checkout that is built
 */
export function imageCommand(build: string, dockerfile: 'Dockerfile' | 'edge/Dockerfile'): readonly string[] {
  const [, command = '[]'] = /^CMD (.*)$/m.exec(readFileSync(join(build, dockerfile), 'utf8')) ?? [];
  const [, ...args] = JSON.parse(command) as string[];
  return args.map((part) => (part.startsWith('-') ? part : join(build, part)));
}
