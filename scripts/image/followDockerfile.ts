import { cp, mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from '../../sandbox/service/endWithUs.ts';

/** What an image consists of once its Dockerfile has been followed. */
export interface Image {
  /** The last stage’s file system: a folder of the real one. */
  root: string;
  /** The working directory, as the image calls it. */
  workdir: string;
  volumes: string[];
  user: string;
  ports: string[];
  environment: Record<string, string>;
  /** With the entrypoint before it. */
  command: string[];
  healthCheck: string[];
}

type Stage = { root: string; workdir: string; environment: Record<string, string> };

interface Following {
  /** Node.js of the base image. */
  readonly node: string;
  /** Hears each command that is run. */
  readonly say: (step: string) => void;
  /** From the context; `Dockerfile` when omitted. */
  readonly dockerfile?: string;
}

/** A step of the Dockerfile can't be done; the message has the words of the command. */
export class StepFailed extends Error {
  override name = 'StepFailed';
}

/** These say where a build begins, or how a container runs, which needs an engine. */
const needsEngine = ['STOPSIGNAL', 'LABEL'];

/** Nobody else can give files away; without it `--chown` is left out. */
export const isRoot = process.getuid?.() === 0;

/**
 * Follows a Dockerfile and `.dockerignore` of `context` without a container engine: every stage is a folder below `root`, and
 * nothing gets there but what the file copies or runs. Rejects on a step that fails, copies what `.dockerignore` hides, or is not understood.
 */
export async function followDockerfile(
  context: string,
  root: string,
  { node, say, dockerfile = 'Dockerfile' }: Following,
): Promise<Image> {
  const instructions = readDockerfile(await readFile(join(context, dockerfile), 'utf8'));
  const ignore = await readFile(join(context, '.dockerignore'), 'utf8');
  const visible = ignore.split('\n').flatMap((line) => (line.startsWith('!') ? [line.slice(1).trim()] : []));
  const stages = new Map<string, Stage>();
  let stage: Stage = { root, workdir: '/', environment: {} };
  const defaults = new Map<string, string>();
  const volumes: string[] = [];
  const ports: string[] = [];
  let [user, command, entrypoint, healthCheck] = ['0:0', [] as string[], [] as string[], [] as string[]];

  for (const { verb, argument } of instructions) {
    const here = join(stage.root, stage.workdir);
    if (verb === 'FROM') {
      const name = / as (\S+)$/i.exec(argument)?.[1] ?? String(stages.size);
      stage = { root: join(root, name), workdir: '/', environment: {} };
      stages.set(name, stage);
    } else if (verb === 'WORKDIR') {
      stage.workdir = argument;
      await mkdir(join(stage.root, argument), { recursive: true });
    } else if (verb === 'ARG') {
      const [name = '', value = ''] = argument.split('=');
      defaults.set(name, value);
    } else if (verb === 'ENV') {
      const [name = '', value = ''] = argument.split('=');
      stage.environment[name] = value.replace(/\$\{(\w+)\}/g, (_, variable: string) => defaults.get(variable) ?? '');
    } else if (verb === 'COPY') {
      const { options, words: paths } = readWords(argument);
      const from = options.get('from');
      const target = paths.pop() ?? '.';
      for (const path of paths) {
        if (!from && !visible.includes(path))
          throw new StepFailed(`.dockerignore hides ${path}, which the Dockerfile copies`);
        const source = from ? join(stages.get(from)?.root ?? '', path) : join(context, path);
        const place = target.startsWith('/') ? stage.root : here;
        const copy = target.endsWith('/') ? join(place, target, basename(path)) : join(place, target);
        await cp(source, copy, { recursive: true, verbatimSymlinks: true });
        const owner = options.get('chown');
        if (owner !== undefined && isRoot) await promisify(execFile)('chown', ['-R', owner, copy]);
      }
    } else if (verb === 'RUN') {
      // Without secrets, as an engine mounts nothing where none are given.
      const command = argument.replace(/^(--mount=type=secret,\S+\s+)+/, '');
      say(command);
      await run(command, here, { ...cleanEnvironment(node), ...stage.environment });
    } else if (verb === 'CMD') {
      command = JSON.parse(argument);
    } else if (verb === 'ENTRYPOINT') {
      entrypoint = JSON.parse(argument);
    } else if (verb === 'HEALTHCHECK') {
      healthCheck = JSON.parse(argument.slice(argument.indexOf('[')));
    } else if (verb === 'VOLUME') {
      volumes.push(argument);
    } else if (verb === 'EXPOSE') {
      ports.push(argument);
    } else if (verb === 'USER') {
      if (!/^[1-9]\d*:[1-9]\d*$/.test(argument))
        throw new StepFailed(`USER ${argument}: must be two numbers, and not root`);
      user = argument;
    } else if (!needsEngine.includes(verb)) throw new StepFailed(`${verb} is not understood here`);
  }
  const { root: lastRoot, workdir, environment } = stage;
  command = [...entrypoint, ...command];
  return { root: lastRoot, workdir, environment, volumes, user, ports, command, healthCheck };
}

async function run(command: string, cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
  try {
    await promisify(execFile)('sh', ['-c', command], { cwd, env });
  } catch (error) {
    const said =
      error instanceof Error && 'stderr' in error && 'stdout' in error ? [error.stdout, error.stderr] : [error];
    throw new StepFailed(`RUN ${command} failed:\n${said.join('\n').trim()}`);
  }
}

/**
 * What a build may see of this machine: where programs are and how to reach the package registry, but no package of this
 * project.
 * @param node the program of the base image
 */
function cleanEnvironment(node: string): Record<string, string> {
  const wanted = /^(HOME|TMPDIR|(HTTPS?|NO)_PROXY|NODE_EXTRA_CA_CERTS|npm_config_(registry|cache|userconfig))$/i;
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    value && wanted.test(name) ? [[name, value]] : [],
  );
  const path = (process.env['PATH'] ?? '')
    .split(':')
    .filter((entry) => !/node_modules\/\.bin$|node-gyp-bin$/.test(entry));
  return { ...Object.fromEntries(kept), PATH: [dirname(node), ...path].join(':') };
}

export type Instruction = Readonly<{ verb: string; argument: string }>;

/** One instruction a line: comments dropped, continued lines joined. */
export const readDockerfile = (text: string): Instruction[] =>
  joinLines(text.replace(/^\s*#.*\n/gm, '')).map((line) => {
    const [verb = ''] = line.split(/\s/, 1);
    return { verb: verb.toUpperCase(), argument: line.slice(verb.length).trim() };
  });

/** The lines that say something; a backslash at the end joins the next one. */
export const joinLines = (text: string): string[] =>
  text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** The options of an instruction (`--from=build`), and its other words. */
function readWords(argument: string): { options: Map<string, string>; words: string[] } {
  const all = argument.split(/\s+/);
  const options = all.flatMap((word) => {
    const [, name, value] = /^--([\w-]+)=(.*)$/.exec(word) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return { options: new Map(options), words: all.filter((word) => !word.startsWith('--')) };
}
