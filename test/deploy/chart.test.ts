import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { entriesOf, flawsOf } from './flaws.ts';
import { template, valuesOf } from './helm.ts';
import { build, nameOf, overlays, type Resource, type Tree } from './kustomize.ts';

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
  it('has the settings of the base', () => {
    const [, settings] = build('deploy/kubernetes/base');
    expect(template(chart).resources.find(({ kind }) => kind === 'ConfigMap')?.['data']).toEqual(settings?.['data']);
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
