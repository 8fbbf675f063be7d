import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { entriesOf, flawsOf } from './flaws.ts';
import { template, valuesOf } from './helm.ts';
import { build, documents, nameOf, overlays, type Resource, type Tree } from './kustomize.ts';

const chart = 'deploy/helm';
const schema = JSON.parse(readFileSync(`${chart}/values.schema.json`, 'utf8'));
const validate = new Ajv({ allErrors: true }).compile(schema);
const flawsOfValues = (values: Tree) => (validate(values) ? [] : (validate.errors ?? []));

const identity = { clientId: '00000000-0000-0000-0000-000000000000' };
const on = { enabled: true };

/** What makes the chart the same as an overlay, besides its settings. */
const choices: Readonly<Record<(typeof overlays)[number], Tree>> = {
  'deploy/kubernetes/overlays/complete': { identity, frontDoor: on, fleet: on, scaling: on, monitoring: on },
  'deploy/kubernetes/overlays/with-identity': { identity },
  'deploy/kubernetes/overlays/with-identity-and-front-door': { identity, frontDoor: on },
  'deploy/kubernetes/overlays/with-keys': {},
  'deploy/kubernetes/overlays/with-keys-and-front-door': { frontDoor: on },
};

const byName = (resources: readonly Resource[]) => new Map(resources.map((one) => [nameOf(one), one]));

/** helm puts everything into the namespace of the release. */
const withoutNamespace = ({ metadata: { namespace, ...metadata }, ...more }: Resource) =>
  ({ ...more, metadata }) as Resource;

const everything = {
  ...choices['deploy/kubernetes/overlays/complete'],
  podSpec: {
    imagePullSecrets: [{ name: 'registry' }],
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'a', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'high',
  },
};

describe('the chart', () => {
  const folder = folderForEach('overlay');
  it.each(overlays)('makes, one by one, the resources of %s', (folder) => {
    const resources = build(folder).map(withoutNamespace);
    const settings = resources.find(({ kind }) => kind === 'ConfigMap')?.['data'];
    const values = { ...choices[folder], settings };
    expect(flawsOfValues(valuesOf(chart, values))).toEqual([]);
    expect(byName(template(chart, values).resources)).toEqual(byName(resources));
  });
  it('makes, one by one, what the component fleet makes beside keys', () => {
    const at = (path: string) => relative(folder, `deploy/kubernetes/${path}`);
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      `resources: [${at('overlays/with-keys')}]\ncomponents: [${at('fleet')}]`,
    );
    const resources = build(folder).map(withoutNamespace);
    const settings = resources.find(({ kind }) => kind === 'ConfigMap')?.['data'];
    expect(byName(template(chart, { settings, fleet: on }).resources)).toEqual(byName(resources));
  });
  it('has the settings of the base, and the version of the project', () => {
    const [, settings] = build('deploy/kubernetes/base');
    expect(template(chart).resources.find(({ kind }) => kind === 'ConfigMap')?.['data']).toEqual(settings?.['data']);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(documents(`${chart}/Chart.yaml`)[0]).toMatchObject({ version, appVersion: version });
  });
  it('makes what is valid by the schema of its kind with every value set, which gets into both programs', () => {
    const { resources } = template(chart, everything);
    expect(resources.flatMap(flawsOf)).toEqual([]);
    const pods = resources.filter(({ kind }) => kind === 'Deployment');
    expect(pods).toHaveLength(2);
    for (const pod of pods) expect(pod['spec']).toMatchObject({ template: { spec: everything.podSpec } });
  });
  it('uses every value', () => {
    const values = valuesOf(chart, everything);
    const unused = entriesOf(values).filter(({ path, key, value, within }) => {
      if (typeof value !== 'string' || /^\/(podSpec|settings)\//.test(path)) return false;
      (within as Record<string, unknown>)[key] = `${value}x`;
      const changed = JSON.stringify(template(chart, values));
      (within as Record<string, unknown>)[key] = value;
      return changed === JSON.stringify(template(chart, values));
    });
    // With an identity there is no Secret.
    expect(unused.map(({ path }) => path)).toEqual(['/secretName']);
    expect(JSON.stringify(template(chart, { secretName: 'other' }).resources)).toContain('"secretName":"other"');
  });
  it('has notes for a Secret and for an identity', () => {
    expect(template(chart).notes).toContain('the Secret device-messaging has');
    expect(template(chart, { identity }).notes).toMatch(/The identity 0{8}-.* needs a federated credential/);
  });
});

describe('the schema of the values', () => {
  it('takes no key that is misspelt, at any level', () => {
    const values = valuesOf(chart, {});
    const taken = entriesOf(values).flatMap(({ path, key, value, within }) => {
      if (path.startsWith('/settings/')) return [];
      const open = within as Record<string, unknown>;
      delete open[key];
      open[`${key}s`] = value;
      const isTaken = flawsOfValues(values).length === 0;
      delete open[`${key}s`];
      open[key] = value;
      return isTaken ? [path] : [];
    });
    expect(taken).toEqual([]);
  });
  it.each([
    ['a secret among the settings', { settings: { HUB_SERVICE_CONNECTION_STRING: 'a' } }],
    ['a setting that is no text', { settings: { DELIVERY_DRAIN_SECONDS: 25 } }],
    ['an image without a registry', { image: { repository: 'device-messaging' } }],
    ['a client id that is none', { identity: { clientId: 'device-messaging' } }],
    ['no limit of memory', { resources: { limits: { memory: null } } }],
    ['no instance', { replicas: 0 }],
    ['a text for a switch', { scaling: { enabled: 'false' } }],
    ['a fleet without a network policy', { fleet: on, networkPolicy: { enabled: false } }],
    ['another part of the pod', { podSpec: { hostNetwork: true } }],
  ])('refuses %s', (_, values) => expect(flawsOfValues(valuesOf(chart, values))).not.toEqual([]));
});

describe('a template', () => {
  const folder = folderForEach('helm');
  const made = (text: string, values = 'a: b\nlist: []\nmap: { c: "on" }\n') => {
    mkdirSync(join(folder, 'templates'), { recursive: true });
    const files = {
      'values.yaml': values,
      'file.txt': 'k: {{ .Values.a }}\n',
      'templates/_helpers.tpl': '{{- define "of" -}}\n  of {{ . }}\n{{- end }}\n',
      'templates/NOTES.txt': text,
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    return template(folder).notes;
  };

  // As Go's text/template and helm print them.
  it.each([
    ['a value', 'a {{ .Values.a }} c', 'a b c'],
    ['trimmed before', 'a\n  {{- .Values.a }}\nc', 'ab\nc'],
    ['trimmed behind', 'a {{ .Values.a -}}\n c', 'a bc'],
    ['a comment', 'a {{- /* }} */}} b', 'a b'],
    ['an empty list is false', '{{ if .Values.list }}a{{ else }}b{{ end }}', 'b'],
    ['what is not there is false', '{{ if .Values.none }}a{{ end }}c', 'c'],
    ['not', '{{ if not .Values.list }}a{{ end }}', 'a'],
    ['with moves the dot', '{{ with .Values.map }}{{ .c }}{{ end }}', 'on'],
    ['include has its own dot', '{{ include "of" .Values.a }}, {{ include "of" "x" }}', 'of b, of x'],
    ['nindent begins a line', 'a:{{ toYaml .Values.map | nindent 2 }}', 'a:\n  c: "on"'],
    ['a file is no template', '{{ .Files.Get "file.txt" }}', 'k: {{ .Values.a }}\n'],
  ])('%s', (_, text, expected) => expect(made(text)).toBe(expected));
  it.each([
    ['a value that is not there', '{{ .Values.none }}', 'is no text'],
    ['a path through what is not there', '{{ if .Values.none.at }}{{ end }}', 'is no map'],
    ['a map as a text', '{{ .Values.map }}', 'is no text'],
    ['a function that is not known', '{{ .Values.a | quote }}', 'quote is not known'],
    ['another expression', '{{ default "a" .Values.a }}', 'is not known'],
    ['another condition', '{{ if eq .Values.a "b" }}{{ end }}', 'is not known'],
    ['a range', '{{ range .Values.list }}{{ end }}', 'has no beginning'],
    ['no end', '{{ if .Values.a }}', 'if has no end'],
    ['an unknown include', '{{ include "other" . }}', 'nothing defines'],
  ])('is refused with %s', (_, text, why) => expect(() => made(text)).toThrow(why));
});
