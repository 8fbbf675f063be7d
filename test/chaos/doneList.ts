import { appendFile, readFile } from 'node:fs/promises';

/** What is done already, in a file with one line for each, so that a long run fits into several sittings. */
export interface DoneList {
  has(one: number | string): boolean;
  add(one: number | string): Promise<void>;
}

/** @param file there is none yet before the first sitting; undefined: nothing is kept */
export async function openDoneList(file: string | undefined): Promise<DoneList> {
  const text = file === undefined ? '' : await readFile(file, 'utf8').catch(ifAbsent);
  // A line that was cut off says nothing.
  const lines = new Set(text.slice(0, text.lastIndexOf('\n') + 1).split('\n'));
  let isCutOff = text !== '' && !text.endsWith('\n');
  return {
    has: (one) => lines.has(String(one)),
    async add(one) {
      lines.add(String(one));
      if (file !== undefined) await appendFile(file, `${isCutOff ? '\n' : ''}${one}\n`);
      isCutOff = false;
    },
  };
}

function ifAbsent(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
