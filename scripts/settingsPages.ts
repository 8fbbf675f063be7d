import { settingDocs } from '../src/settings/config.ts';
import { everySetting, methodsSchema, schema } from '../src/settings/table.ts';
import { withText } from './writtenPart.ts';

/**
 * The pages that list the settings, written from the schema: `docs/settings.md`, the table of README.md with those that
 * have to be set, and `.env.example`.
 */

/** What has to be set; of the last four either the first or the others. */
export const required = [
  ...['HUB_SERVICE_CONNECTION_STRING', 'INFORMATION_MODEL_URL', 'TYPE_REGISTRY_URL', 'PRINCIPAL_MANAGER_URL'],
  ...['BACKENDS_TOKEN', 'BACKENDS_TOKEN_URL', 'BACKENDS_CLIENT_ID', 'BACKENDS_CLIENT_SECRET'],
];

type SettingDoc = ReturnType<typeof settingDocs>[number];

type Section = Readonly<{ title: string; about: string; groups: readonly (keyof typeof everySetting)[] }>;

const sections: readonly Section[] = [
  {
    title: 'The hub',
    about:
      'The portal has the first connection string under *Built-in endpoints*, the second under *Shared access policies*.',
    groups: ['hub'],
  },
  {
    title: 'The network',
    about:
      'For every connection: [operations.md](operations.md#the-network). The first three count in lower case, too, and the front door reads all.',
    groups: ['network'],
  },
  {
    title: 'An identity instead of keys',
    about:
      'For what has an address or a scope, and no connection string or token: [identity.md](identity.md). A `workload` also needs `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_FEDERATED_TOKEN_FILE`, which Kubernetes sets.',
    groups: ['identity'],
  },
  {
    title: 'Backends',
    about:
      'Their addresses, the credentials (a fixed token, or client credentials for a token endpoint), and the load on them.',
    groups: ['backends'],
  },
  {
    title: 'Messages and replies',
    about:
      'Limits of memory and time. [guarantees.md](guarantees.md) says what they mean for a crash, [operations.md](operations.md#how-many-replies-the-hub-takes) how to choose the rate of replies.',
    groups: ['delivery', 'replies'],
  },
  {
    title: 'Where checkpoints and dead letters are kept',
    about:
      'One instance needs none of these. Several need the first two of the store: `STORE=blob` and `STORE_CONNECTION_STRING`. [operations.md](operations.md#one-instance-or-several) compares the stores.',
    groups: ['data', 'store', 'checkpoints'],
  },
  {
    title: 'Dead letters',
    about: '[operations.md](operations.md#dead-letters) says what they are, and how to replay them.',
    groups: ['deadLetters'],
  },
  {
    title: 'Health, administration and log',
    about: '[operations.md](operations.md#health) describes them.',
    groups: ['http', 'admin', 'log'],
  },
  {
    title: 'Remote methods',
    about: 'Only the front door reads these: [methods.md](methods.md#for-operators-of-the-front-door).',
    groups: ['methods', 'files'],
  },
];

const head = `# Settings

Settings come from the environment, or from \`config/<NODE_ENV>.json\` (\`config/production.json\` unless \`NODE_ENV\` is set, or the file in \`CONFIG_FILE\`), by group and name:
\`{ "delivery": { "drainSeconds": 40 } }\`. The environment overrides the file. Files of secrets may change while the program runs ([secrets](identity.md#secrets-that-change)). An empty variable counts as not set. Wrong settings stop the start, with one line for each. An unknown variable that begins like ours is reported with the nearest name; an unknown name in the file stops the start.

Everything else is a constant, or derived ([D66](maintainers/decisions.md#d66--what-is-a-setting)). Variables of OpenTelemetry (\`OTEL_…\`): for [metrics](metrics.md#sending-them-to-a-collector), for [traces](operations.md#traces).

*Read by*: the service (\`npm start\`, and \`npm run dead-letters\`), the front door of remote methods (\`npm run methods\`), or both. *Secret*: it may be in the file that the variable with \`_FILE\` behind its name names.

<!-- Written by \`npm run docs\` from the schema in src/settings. -->
`;

export function settingsPage(): string {
  const [service, door] = [schema, methodsSchema].map((of) => settingDocs(of).map(({ env }) => env));
  const readBy = ({ env }: SettingDoc) =>
    !door?.includes(env) ? 'service' : service?.includes(env) ? 'both' : 'front door';
  const printed = sections.map(({ title, about, groups }) => {
    const settings = settingDocs(Object.fromEntries(groups.map((group) => [group, everySetting[group]])));
    const own = settings.filter(({ holds }) => holds === undefined);
    const [reader = '', ...others] = new Set(own.map(readBy));
    const isMixed = others.length > 0;
    const row = (cells: readonly string[]) => `| ${cells.slice(0, isMixed ? 4 : 3).join(' | ')} |`;
    return [
      `## ${title}\n`,
      `${about}${isMixed ? '' : ` Read by: ${reader}.`}\n`,
      row(['variable', 'what it does', 'default', 'read by']),
      `|${'---|'.repeat(isMixed ? 4 : 3)}`,
      ...own.map((one) => row([`\`${one.env}\``, one.doc, shown(one), readBy(one)])),
    ];
  });
  return `${[head, ...printed.map((lines) => `${lines.join('\n')}\n`)].join('\n')}`;
}

const shown = ({ secret, default: fallback }: SettingDoc): string =>
  secret ? 'secret' : fallback === '' ? '' : `\`${fallback}\``;

/** README with its table of what has to be set renewed. */
export function withRequiredSettings(readme: string): string {
  const rows = settingDocs().flatMap(({ env, doc }) => (required.includes(env) ? [`| \`${env}\` | ${doc} |`] : []));
  return withText(readme, 'settings', ['| variable | what it does |', '|---|---|', ...rows].join('\n'));
}

/** `.env.example`: what has no default stands open, the rest is commented out with its default. */
export function envExample(): string {
  const lines = settingDocs()
    .filter(({ holds }) => holds === undefined)
    .map(({ env, doc, secret, default: fallback }) => {
      const file = secret ? `# Or the file with it:\n${env}_FILE=\n` : '';
      return fallback === '' ? `# ${doc}\n${env}=\n${file}` : `# ${doc}\n#${env}=${fallback}\n`;
    });
  return `${[
    '# Copy to .env: `npm start`, `npm run methods` and `npm run dead-letters` read it, and `docker run` with `--env-file .env`.',
    '# Variables that are set already win. An empty value counts as not set. All behind `=` is the value: no quotes, no comments.',
  ].join('\n')}\n\n${lines.join('\n')}`;
}
