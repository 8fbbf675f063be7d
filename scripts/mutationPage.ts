import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mutatedFolders } from '../stryker.config.mjs';

/** `docs/mutation.md`, from `test/mutation/scores.json` (D346). `npm run docs` rewrites it; a test fails when it is behind. */
export const mutationPageFile = 'docs/mutation.md';

export interface Score {
  /** A file, or a folder for those of its files that have no entry of their own and no survivors. */
  readonly file: string;
  /** How many the tool made. */
  readonly changes: number;
  /** Share that the tests noticed in the first run, in percent. */
  readonly firstPercent: number;
  /** How many no test notices now. */
  readonly survivors: number;
  /** Why they may stay; `lines` as they were when the file was measured. */
  readonly reasons?: readonly { readonly lines: string; readonly why: string }[];
}

export const scores: { readonly measured: string; readonly files: readonly Score[] } = JSON.parse(
  readFileSync('test/mutation/scores.json', 'utf8'),
);

/** What `npm run mutation` changes. */
export const mutatedFiles = (): string[] =>
  mutatedFolders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
      name.endsWith('.ts') ? [`${folder}/${name}`] : [],
    ),
  );

/** Files that have no score, because they are newer than the measurement or were rewritten since. */
const unmeasured = (): string[] =>
  mutatedFiles().filter((file) => !scores.files.some((one) => file === one.file || file.startsWith(`${one.file}/`)));

const noticed = ({ changes, survivors }: Score): number => Math.round((1 - survivors / changes) * 100);
const nameOf = (file: string): string =>
  `\`${file.replace(/^src\/|\.ts$/g, '')}\`${file.endsWith('.ts') ? '' : ' (all other files)'}`;

function row(score: Score): string {
  const { file, changes, firstPercent, survivors, reasons = [] } = score;
  const why = [...new Set(reasons.map(({ why }) => why))].join('; ');
  return `| ${nameOf(file)} | ${changes} | ${firstPercent} % | ${noticed(score)} % | ${survivors} | ${why} |`;
}

const partly = scores.files.filter(({ survivors }) => survivors > 0);
const whole = scores.files.filter(({ survivors }) => survivors === 0);
const listed = (files: readonly string[]): string => files.map(nameOf).join(', ');

export const mutationPage = (): string => `# Mutation testing

<!-- Written by \`npm run docs\` from test/mutation/scores.json. -->

\`npm run mutation\` lets [StrykerJS](https://stryker-mutator.io) change rules in small ways, and runs the quick tests that reach each change.
A change that no test notices *survives*. Tests that start processes are left out, so a survivor is a question, not a verdict.
All files take hours, one file minutes: \`npm run mutation -- --mutate src/protocol/fields.ts --ignoreStatic --testFiles 'test/protocol/*.test.ts'\`.
\`.mutation/report.html\` then shows each survivor in its place.

Measured on ${scores.measured}, without what is computed once when a file is loaded. *First* and *now* are the shares of changes that tests notice,
in the first run and after tests were added. \`test/mutation/scores.json\` has the survivors by their lines at that time.

| file | changes | first | now | survivors | why they may stay |
|---|---|---|---|---|---|
${partly.map(row).join('\n')}

Without survivors: ${listed(whole.map(({ file }) => file))}.

Not measured, or rewritten since: ${listed(unmeasured())}.
`;

export function writeMutationPage(): void {
  writeFileSync(mutationPageFile, mutationPage());
}
