import { readFileSync, writeFileSync } from 'node:fs';
import { type SettingDoc, settingDocs } from '../src/config.ts';
import { methodsSchema, schema } from '../src/settings/schema.ts';

/**
 * The pages that list the settings, written from the schema: the table between the markers of README.md and of
 * docs/methods.md, and `.env.example`. `npm run docs` rewrites them; a test fails when they are behind.
 */

export const methodsPage = 'docs/methods.md';
const begin = '<!-- settings: written by `npm run docs` -->';
const end = '<!-- /settings -->';

const shown = ({ secret, default: fallback }: SettingDoc): string =>
  secret ? 'secret' : fallback === '' ? '' : `\`${fallback}\``;

/** A page with its table of settings renewed: README has those of the service, docs/methods.md those of the front door. */
export function withSettingsTable(page: string, of: 'service' | 'methods' = 'service'): string {
  const rows = settingDocs(of === 'service' ? schema : methodsSchema).map(
    (setting) => `| \`${setting.env}\` | ${setting.doc} | ${shown(setting)} |`,
  );
  const table = ['| variable | what it does | default |', '|---|---|---|', ...rows].join('\n');
  const [head, rest] = split(page, begin);
  const [, tail] = split(rest, end);
  return `${head}${begin}\n\n${table}\n\n${end}${tail}`;
}

/** `.env.example`: what has to be set stands open, the rest is commented out with its default. */
export function envExample(): string {
  const lines = settingDocs().map(({ env, doc, default: fallback }) =>
    fallback === '' ? `# ${doc}\n${env}=\n` : `# ${doc}\n#${env}=${fallback}\n`,
  );
  return `${[
    '# Copy to .env: `npm start`, `npm run methods` and `npm run dead-letters` read it, and `docker run` with `--env-file .env`.',
    '# Variables that are set already win. An empty value counts as not set. No quotes: `docker run` would keep them.',
  ].join('\n')}\n\n${lines.join('\n')}`;
}

function split(text: string, marker: string): [string, string] {
  const at = text.indexOf(marker);
  if (at < 0) throw new Error(`the page lacks the line ${marker}`);
  return [text.slice(0, at), text.slice(at + marker.length)];
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync('README.md', withSettingsTable(readFileSync('README.md', 'utf8')));
  writeFileSync(methodsPage, withSettingsTable(readFileSync(methodsPage, 'utf8'), 'methods'));
  writeFileSync('.env.example', envExample());
}
