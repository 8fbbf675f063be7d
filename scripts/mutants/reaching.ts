import { basename } from 'node:path';
import { filesBelow, loadedFrom } from '../../test/support/imports.ts';
import { projectOf } from '../../vitest.config.ts';

/** The files of `npm test` that load a file, those first that are likely to know most about it. */
export function testFilesReaching(file: string): string[] {
  const reached = all().flatMap(([testFile, loaded]) =>
    loaded.has(file) ? [[distance(testFile, loaded, file), testFile] as const] : [],
  );
  return reached.sort(([one], [other]) => one - other).map(([, testFile]) => testFile);
}

let known: (readonly [testFile: string, loaded: ReadonlySet<string>])[] | undefined;

function all() {
  known ??= ['test', 'iot-hub-emulator/test']
    .flatMap(filesBelow)
    .filter((file) => file.endsWith('.test.ts') && projectOf(file) !== 'programs')
    .map((file) => [file, loadedFrom(file)] as const);
  return known;
}

/** What loads less is nearer, and so is what has a name or a folder in common. */
function distance(testFile: string, loaded: ReadonlySet<string>, file: string): number {
  const [name, own] = [wordsOf(file), wordsOf(testFile)];
  const common = own.filter((word) => name.includes(word)).length;
  const isOfRoom = testFile
    .split('/')
    .some((folder) => folder !== 'src' && folder !== 'test' && file.includes(`/${folder}/`));
  return loaded.size / (1 + (10 * common) / Math.max(name.length, own.length)) / (isOfRoom ? 3 : 1);
}

const wordsOf = (file: string): string[] =>
  basename(file)
    .replace(/(\.test)?\.tsx?$/, '')
    .split(/[^a-zA-Z]+|(?=[A-Z])/)
    .map((word) => word.toLowerCase())
    .filter((word) => word !== '');
