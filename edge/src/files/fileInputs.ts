import { statusValue } from '@device-messaging/telemetry/meter.ts';
import type { Configuration } from '../configuration/read.ts';
import type { Module } from '../configuration/schema.ts';
import type { SignedFile } from '../hub/invocation.ts';
import type { Meter } from '../observing/metrics.ts';
import { DownloadError, type DownloadOptions, download, isFileSystemError } from './download.ts';
import { createModuleFolder, type ModuleFolder, type Reservation } from './moduleFolder.ts';

/** The files of one invocation, complete in the module's folder. */
export interface DownloadedFiles {
  /** Name in the folder, by input. */
  readonly names: Readonly<Record<string, string>>;
  /** Leaves the files to the module. */
  keep(): void;
  /** Removes the files. */
  discard(): Promise<void>;
}

type DownloadResult =
  | { readonly kind: 'files'; readonly files: DownloadedFiles }
  /** `failed`: a file could not be downloaded. `unavailable`: the quota of the folder is used up. `refused`: there is no folder. */
  | { readonly kind: 'failed' | 'unavailable' | 'refused'; readonly detail: string; readonly cause?: string };

/** By input. */
type Files = ReadonlyMap<string, SignedFile>;

/** The folders of all configurations since the start, by path: invocations of an earlier one may still use them. */
export type Folders = Map<string, ModuleFolder>;

export type FileInputs = ReturnType<typeof createFileInputs>;

/** Inputs that are files, downloaded to the folder of the module that gets the invocation (M12). */
export function createFileInputs(
  configuration: Pick<Configuration, 'modules' | 'files'>,
  meter: Meter,
  known: Folders,
) {
  const { modules, files: settings } = configuration;
  const record = meter.histogram('http.client.request.duration');
  const folders = new Map(modules.flatMap(({ id, files }) => (files ? [[id, withFolder(files, known)] as const] : [])));
  const downloads = createSemaphore(settings.atOnce);

  /** Downloads one file, and records how long it took. */
  async function measured(file: SignedFile, path: string, options: DownloadOptions): Promise<void> {
    const startedAt = performance.now();
    const seconds = () => (performance.now() - startedAt) / 1000;
    try {
      await download(file, path, options);
    } catch (error) {
      if (!(error instanceof DownloadError)) record(seconds(), '200', 'folder');
      else record(seconds(), error.status === undefined ? '' : statusValue(error.status), error.fault);
      throw error;
    }
    record(seconds(), '200', '');
  }

  async function downloadAll(files: Files, mode: number, reservation: Reservation, signal: AbortSignal) {
    const paths = new Map<string, string>();
    // One after the other: an invocation uses one permit at a time.
    for (const [input, file] of files) {
      const path = reservation.temporaryPath();
      await downloads(signal, () => measured(file, path, { ca: settings.ca, mode, signal }));
      paths.set(input, path);
    }
    const names: [string, string][] = [];
    for (const [input, path] of paths) names.push([input, await reservation.finish(path)]);
    return Object.fromEntries(names);
  }

  return {
    /** Prepares the folders; resolves with those that cannot be used. */
    async prepare() {
      const unusable = [...folders].map(async ([moduleId, { folder }]) => {
        const error = await folder.prepare().catch((error: NodeJS.ErrnoException) => error);
        return error ? [{ moduleId, cause: error.code ?? error.name }] : [];
      });
      return (await Promise.all(unusable)).flat();
    },

    /** Downloads all files or none. Never rejects. */
    async download(moduleId: string, files: Files, signal: AbortSignal): Promise<DownloadResult> {
      const found = folders.get(moduleId);
      if (!found) return { kind: 'refused', detail: 'the module takes no files: no folder is configured for it' };
      for (const { url } of files.values()) {
        const problem = urlProblem(url, settings);
        if (problem !== undefined) return failed(problem);
      }
      const bytes = [...files.values()].reduce((sum, file) => sum + file.bytes, 0);
      let reservation: Reservation | undefined;
      try {
        reservation = await found.folder.reserve(found, bytes, files.size);
        if (!reservation) return unavailable('the files do not fit the quota of the module’s folder');
        const names = await downloadAll(files, found.mode, reservation, signal);
        const { release, discard } = reservation;
        return { kind: 'files', files: { names, keep: release, discard } };
      } catch (error) {
        await reservation?.discard();
        if (error instanceof DownloadError) return failed(error.message);
        const cause = isFileSystemError(error) ? String(error.code) : String(error);
        return { ...unavailable('the folder of the module cannot be written'), cause };
      }
    },
  };
}

function withFolder({ folder: path, quotaBytes, mostFiles, mode }: NonNullable<Module['files']>, known: Folders) {
  const folder = known.get(path) ?? createModuleFolder(path);
  known.set(path, folder);
  return { folder, quotaBytes, mostFiles, mode: Number.parseInt(mode, 8) };
}

const unavailable = (detail: string) => ({ kind: 'unavailable', detail }) as const;
const failed = (reason: string) =>
  ({ kind: 'failed', detail: `a file could not be downloaded, and nothing was delivered: ${reason}` }) as const;

/** Why a file must not be downloaded from this URL; undefined when it may be (M12). */
export function urlProblem(url: string, allowed: Pick<Configuration['files'], 'hosts' | 'loopbackHttp'>) {
  const { hosts, loopbackHttp } = allowed;
  if (!URL.canParse(url)) return 'its URL is invalid';
  const { protocol, host, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'its URL contains credentials';
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && loopbackHttp && isLoopback)) return 'its URL is not https';
  return hosts.includes(host) ? undefined : 'its host is not configured';
}

/** Limits the downloads at once; waiting ones start in the order of their calls. */
export function createSemaphore(permits: number) {
  const queue: (() => void)[] = [];
  let free = permits;

  async function acquire(signal: AbortSignal): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const grant = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        queue.splice(queue.indexOf(grant), 1);
        reject(new DownloadError('it timed out while other downloads were in progress', 'timeout'));
      };
      queue.push(grant);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** @throws DownloadError when the signal aborts before the work starts */
  return async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    if (signal.aborted) throw new DownloadError('the download timed out', 'timeout');
    await acquire(signal);
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else free += 1;
    }
  };
}
