import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

/** What an image consists of once its Dockerfile has been followed. */
export interface Image {
  /** The working directory of the last stage, in the real file system. */
  directory: string;
  environment: Record<string, string>;
  command: string[];
  healthCheck: string[];
}

interface Instruction {
  verb: string;
  argument: string;
}

interface Stage {
  root: string;
  workdir: string;
  environment: Record<string, string>;
}

/** A step of the Dockerfile can't be done; the message has the words of the command. */
export class StepFailed extends Error {
  override name = 'StepFailed';
}

/** These say how a container runs, which needs an engine. */
const needsEngine = ['USER', 'EXPOSE', 'STOPSIGNAL', 'LABEL'];

/** One instruction a line: comments dropped, continued lines joined. */
function readDockerfile(text: string): Instruction[] {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n');
  return lines
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const [verb = ''] = line.split(/\s/, 1);
      return { verb: verb.toUpperCase(), argument: line.slice(verb.length).trim() };
    });
}

/**
 * Follows `Dockerfile` and `.dockerignore` of `context` without a container engine: every stage is a folder below `root`, and
 * nothing gets there but what the file copies or runs. Rejects on a step that fails, copies what `.dockerignore` hides, or is not understood.
 */
export async function followDockerfile(context: string, root: string, say: (step: string) => void): Promise<Image> {
  const instructions = readDockerfile(await readFile(join(context, 'Dockerfile'), 'utf8'));
  const ignore = await readFile(join(context, '.dockerignore'), 'utf8');
  const visible = ignore.split('\n').flatMap((line) => (line.startsWith('!') ? [line.slice(1).trim()] : []));
  const stages = new Map<string, Stage>();
  let stage: Stage = { root, workdir: '/', environment: {} };
  let command: string[] = [];
  let healthCheck: string[] = [];

  for (const { verb, argument } of instructions) {
    const here = join(stage.root, stage.workdir);
    if (verb === 'FROM') {
      const name = / as (\S+)$/i.exec(argument)?.[1] ?? String(stages.size);
      stage = { root: join(root, name), workdir: '/', environment: {} };
      stages.set(name, stage);
    } else if (verb === 'WORKDIR') {
      stage.workdir = argument;
      await mkdir(join(stage.root, argument), { recursive: true });
    } else if (verb === 'ENV') {
      const [name = '', value = ''] = argument.split('=');
      stage.environment[name] = value;
    } else if (verb === 'COPY') {
      const words = argument.split(/\s+/);
      const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
      const paths = words.filter((word) => !word.startsWith('--'));
      const target = paths.pop() ?? '.';
      for (const path of paths) {
        if (!from && !visible.includes(path))
          throw new StepFailed(`.dockerignore hides ${path}, which the Dockerfile copies`);
        const source = from ? join(stages.get(from)?.root ?? '', path) : join(context, path);
        await cp(source, target.endsWith('/') ? join(here, target, basename(path)) : join(here, target), {
          recursive: true,
          verbatimSymlinks: true,
        });
      }
    } else if (verb === 'RUN') {
      say(argument);
      await run(argument, here, stage.environment);
    } else if (verb === 'CMD') {
      command = JSON.parse(argument);
    } else if (verb === 'HEALTHCHECK') {
      healthCheck = JSON.parse(argument.slice(argument.indexOf('[')));
    } else if (!needsEngine.includes(verb)) {
      throw new StepFailed(`${verb} is not understood here`);
    }
  }
  return { directory: join(stage.root, stage.workdir), environment: stage.environment, command, healthCheck };
}

async function run(command: string, cwd: string, environment: Readonly<Record<string, string>>): Promise<void> {
  try {
    await promisify(execFile)('sh', ['-c', command], { cwd, env: { ...cleanEnvironment(), ...environment } });
  } catch (error) {
    const said =
      error instanceof Error && 'stderr' in error && 'stdout' in error ? [error.stdout, error.stderr] : [error];
    throw new StepFailed(`RUN ${command} failed:\n${said.join('\n').trim()}`);
  }
}

/** What a build may see of this machine: where programs are and how to reach the package registry, but no package of this project. */
function cleanEnvironment(): Record<string, string> {
  const wanted = /^(HOME|TMPDIR|(HTTPS?|NO)_PROXY|NODE_EXTRA_CA_CERTS|npm_config_(registry|cache|userconfig))$/i;
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    value && wanted.test(name) ? [[name, value]] : [],
  );
  const path = (process.env['PATH'] ?? '')
    .split(':')
    .filter((entry) => !/node_modules\/\.bin$|node-gyp-bin$/.test(entry));
  return { ...Object.fromEntries(kept), PATH: path.join(':') };
}
