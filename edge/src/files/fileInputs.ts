import { statusValue } from '@device-messaging/telemetry/meter.ts';
import type { Module } from '../configuration/moduleSchema.ts';
import type { Configuration } from '../configuration/read.ts';
import type { SignedFile } from '../hub/invocation.ts';
import type { Meter } from '../metrics/metrics.ts';
import { DownloadError, type DownloadOptions, download, isFileSystemError } from './download.ts';
import { urlProblem } from './fileUrl.ts';
import { createModuleFolder, type ModuleFolder, type Reservation } from './moduleFolder.ts';
import { createSemaphore } from './semaphore.ts';

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

/** Inputs that are files, downloaded to the folder of the module that gets the invocation (M12). */
export interface FileInputs {
  /** Prepares the folders; resolves with those that cannot be used. */
  prepare(): Promise<{ readonly moduleId: string; readonly cause: string }[]>;
  /** Downloads all files or none. Never rejects. */
  download(moduleId: string, files: ReadonlyMap<string, SignedFile>, signal: AbortSignal): Promise<DownloadResult>;
}

/** The folders of all configurations since the start, by path: invocations of an earlier one may still use them. */
export type Folders = Map<string, ModuleFolder>;

export function createFileInputs(
  { modules, files: settings }: Pick<Configuration, 'modules' | 'files'>,
  meter: Meter,
  known: Folders,
): FileInputs {
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

  async function downloadAll(
    mode: number,
    reservation: Reservation,
    files: ReadonlyMap<string, SignedFile>,
    signal: AbortSignal,
  ) {
    const paths = new Map<string, string>();
    // One after the other: an invocation uses one permit at a time.
    for (const [input, file] of files) {
      const path = reservation.temporaryPath();
      await downloads.run(signal, () => measured(file, path, { ca: settings.ca, mode, signal }));
      paths.set(input, path);
    }
    const names: [string, string][] = [];
    for (const [input, path] of paths) names.push([input, await reservation.finish(path)]);
    return Object.fromEntries(names);
  }

  return {
    async prepare() {
      const unusable = await Promise.all(
        [...folders].map(async ([moduleId, { folder }]) =>
          folder.prepare().then(
            () => [],
            (error: NodeJS.ErrnoException) => [{ moduleId, cause: error.code ?? error.name }],
          ),
        ),
      );
      return unusable.flat();
    },

    async download(moduleId, files, signal) {
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
        const names = await downloadAll(found.mode, reservation, files, signal);
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

type FolderSettings = NonNullable<Module['files']>;

function withFolder({ folder: path, quotaBytes, mostFiles, mode }: FolderSettings, known: Folders) {
  const folder = known.get(path) ?? createModuleFolder(path);
  known.set(path, folder);
  return { folder, quotaBytes, mostFiles, mode: Number.parseInt(mode, 8) };
}

const unavailable = (detail: string) => ({ kind: 'unavailable', detail }) as const;
const failed = (reason: string) =>
  ({ kind: 'failed', detail: `a file could not be downloaded, and nothing was delivered: ${reason}` }) as const;
