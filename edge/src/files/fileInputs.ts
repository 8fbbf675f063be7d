import type { Configuration } from '../configuration/read.ts';
import type { SignedFile } from '../invocation.ts';
import { addressFault } from './address.ts';
import { FetchFailed, fetchFile, isOfThisMachine } from './fetchFile.ts';
import { createFolder, type Folder, type Reserved } from './folder.ts';
import { createTurns } from './turns.ts';

/** The files of one invocation, in the module's folder. */
export interface Delivered {
  /** Name in the folder, by input. */
  readonly names: Readonly<Record<string, string>>;
  /** They are the module's from now on. */
  deliver(): void;
  /** They were not delivered, and are removed. */
  discard(): Promise<void>;
}

export type FilesAnswer =
  | { readonly kind: 'files'; readonly files: Delivered }
  /** A file could not be fetched. */
  | { readonly kind: 'failed'; readonly detail: string }
  /** There is no room, or no folder. */
  | { readonly kind: 'unavailable'; readonly detail: string; readonly cause?: string };

/** Brings files that are inputs to the module that gets the invocation (M12). */
export interface FileInputs {
  /** Makes the folders ready; resolves with those that cannot be used, with the reason. */
  prepare(): Promise<{ readonly moduleId: string; readonly cause: string }[]>;
  /** Fetches them all, or none. Never rejects. */
  fetch(moduleId: string, files: ReadonlyMap<string, SignedFile>, signal: AbortSignal): Promise<FilesAnswer>;
}

export function createFileInputs({ modules, files: settings }: Pick<Configuration, 'modules' | 'files'>): FileInputs {
  const folders = new Map(modules.flatMap(({ id, files }) => (files ? [[id, createFolder(files)] as const] : [])));
  const turns = createTurns(settings.atOnce);

  async function fetchInto(
    folder: Folder,
    room: Reserved,
    files: ReadonlyMap<string, SignedFile>,
    signal: AbortSignal,
  ) {
    const paths = new Map<string, string>();
    // One after the other: an invocation takes one of the places for downloads.
    for (const [input, file] of files) {
      const path = room.unfinishedPath();
      await turns.take(signal, () => fetchFile(file, path, { ca: settings.ca, mode: folder.mode, signal }));
      paths.set(input, path);
    }
    const names: [string, string][] = [];
    for (const [input, path] of paths) names.push([input, await room.finish(path)]);
    return Object.fromEntries(names);
  }

  return {
    async prepare() {
      const found = await Promise.all(
        [...folders].map(async ([moduleId, folder]) =>
          folder.prepare().then(
            () => [],
            (error: NodeJS.ErrnoException) => [{ moduleId, cause: error.code ?? error.name }],
          ),
        ),
      );
      return found.flat();
    },

    async fetch(moduleId, files, signal) {
      const folder = folders.get(moduleId);
      if (!folder)
        return { kind: 'unavailable', detail: 'the module takes no files: its operator must give it a folder' };
      for (const { url } of files.values()) {
        const fault = addressFault(url, settings);
        if (fault !== undefined) return failed(fault);
      }
      const bytes = [...files.values()].reduce((sum, file) => sum + file.bytes, 0);
      let room: Reserved | undefined;
      try {
        room = await folder.reserve(bytes, files.size);
        if (!room) return { kind: 'unavailable', detail: 'the folder of the module has no room for the files' };
        const names = await fetchInto(folder, room, files, signal);
        const { release, discard } = room;
        return { kind: 'files', files: { names, deliver: release, discard } };
      } catch (error) {
        await room?.discard();
        if (error instanceof FetchFailed) return failed(error.message);
        const cause = isOfThisMachine(error) ? String(error.code) : String(error);
        return { kind: 'unavailable', detail: 'the folder of the module cannot be written', cause };
      }
    },
  };
}

const failed = (why: string): FilesAnswer => ({
  kind: 'failed',
  detail: `a file could not be fetched, and nothing was delivered: ${why}`,
});
