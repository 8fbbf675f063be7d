import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const table = (name: string) => `test/messages/${name}.test.ts`;

/** In the details of identifiers, numbers, nulls and sizes. */
export const detailFaults: readonly Fault[] = [
  ...inFile(
    'src/protocol/fields.ts',
    ['test/protocol/fields.test.ts'],
    {
      fault: 'lets a model climb',
      find: String.raw`/^(?!\.\.|\.$)[^\p{Cc}\p{Cs}/\\?#%]{1,256}$/u`,
      replace: String.raw`/^[^\p{Cc}\p{Cs}/\\?#%]{1,256}$/u`,
      caughtBy: '"..a" is a model definition identifier: false',
    },
    {
      fault: 'refuses a target that is no path',
      find: String.raw`/^\P{Cc}*$/u`,
      replace: String.raw`/^[^\p{Cc}.]*$/u`,
      caughtBy: '"../x" is a target: true',
    },
  ),
  ...inFile(
    'src/objectModel/uniqueProperties.ts',
    [table('model.create')],
    {
      fault: 'reads no base types',
      find: 'for (const text of definition.baseTypes ?? []) {',
      replace: 'for (const text of [] as string[]) {',
      caughtBy:
        'finds an existing model by the unique properties of a type and its base types, when the registry does not resolve them',
    },
    {
      fault: 'looks up without what an unknown base type says',
      find: 'if (definition === undefined) return undefined;',
      replace: 'if (definition === undefined) continue;',
      caughtBy: 'passes a model whose type has an unknown base type to the information model',
    },
  ),
  ...inFile('src/messages/v1/Svc.Device.Created.ts', [table('v1/Svc.Device.Created')], {
    fault: 'refuses a parent that is null',
    find: 'absentWhenNull(parent)',
    replace: 'parent.optional()',
    caughtBy: 'counts an objectId and a parent that are null as absent',
  }),
  ...inFile('src/protocol/fields.ts', [table('model.update'), table('v1/Svc.Device.Updated')], {
    fault: 'counts versions in JavaScript numbers',
    find: String.raw`if (/^-?\d{1,40}$/.test(text)) return BigInt(text);`,
    replace: String.raw`if (/^-?\d{1,40}$/.test(text)) return BigInt(Number(text));`,
    caughtBy: 'digit for digit',
  }),
  ...inFile(
    'src/protocol/misspellings.ts',
    ['test/protocol/misspellings.test.ts', 'test/dispatch/recognition.test.ts'],
    {
      fault: 'overlooks question marks in messages for this service',
      find: 'if (isOurs || (name.length',
      replace: 'if (isOurs) return undefined;\n    if ((name.length',
      caughtBy: 'is a question mark before a name, of our messages too',
    },
  ),
  ...inFile(
    'src/protocol/shortening.ts',
    ['test/protocol/acknowledgement.test.ts', table('v1/Svc.Device.Created')],
    {
      fault: 'leaves out the related models that failed',
      find: '[...bare.filter(({ success }) => !success), ...bare.filter(({ success }) => success)]',
      replace: '[...bare.filter(({ success }) => success), ...bare.filter(({ success }) => !success)]',
      caughtBy: 'has as many as fit, the failed ones first, and the number of the rest:',
    },
    {
      fault: 'stops long before the limit',
      find: 'while (tooMany - most > 1) {',
      replace: 'while (tooMany - most > 100) {',
      caughtBy: 'has as many as fit, the failed ones first, and the number of the rest:',
    },
  ),
  ...inFile('src/backends/typeRegistry.ts', [table('type.create')], {
    fault: 'reads back whatever a definition is called',
    find: ' || !isFullTypeRef(named)',
    replace: '',
    caughtBy: 'never reads a version back whose name is not a path segment',
  }),
  ...inFile('src/backends/principalManager.ts', [table('model.create')], {
    fault: 'takes any id of a principal',
    find: 'z.string().max(256).refine(isSegment)',
    replace: 'z.string().max(256).refine((id) => isSegment(id) || id === "a#b")',
    caughtBy: 'is the service’s failure when the owner’s id is not a path segment:',
  }),
];
