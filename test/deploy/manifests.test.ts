import { readdirSync } from 'node:fs';
import * as keda from '@kubernetes-models/keda/keda.sh/v1alpha1';
import * as operator from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import * as apps from 'kubernetes-models/apps/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { build, documents, nameOf, type Resource } from './kustomize.ts';
import { overlays } from './overlays.ts';

type Model = new (data: never) => { validate(): void };

/** Each with the schema that its authors generate from the types of Kubernetes and of the two operators. */
const models: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  v1: core,
  'apps/v1': apps,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
  'keda.sh/v1alpha1': keda,
  'monitoring.coreos.com/v1': operator,
};

function validate(resource: Resource): void {
  const model = models[resource.apiVersion]?.[resource.kind] as Model | undefined;
  if (model === undefined) throw new Error(`no schema for ${resource.apiVersion} ${resource.kind}`);
  new model(resource as never).validate();
}

const built = overlays.map((folder) => [folder, build(folder)] as const);
const all = built.flatMap(([folder, resources]) =>
  resources.map((resource) => [`${nameOf(resource)} of ${folder}`, resource] as const),
);

describe('manifests', () => {
  it.each(all)('%s is valid by the schema of its kind', (_, resource) => {
    expect(() => validate(resource)).not.toThrow();
  });

  it('that are wrong are found: the schemas are strict enough for names and types', () => {
    const [, deployment] = all.find(([name]) => name.startsWith('Deployment')) ?? [];
    const wrong = structuredClone(deployment) as unknown as { spec: Record<string, unknown> };
    wrong.spec['minReadySeconds'] = 'soon';
    expect(() => validate(wrong as never)).toThrow('minReadySeconds');
    expect(() => validate({ apiVersion: 'apps/v1', kind: 'Deploiment', metadata: { name: 'one' } })).toThrow('schema');
  });

  it('are all in an overlay: none is forgotten in a kustomization', () => {
    const files = readdirSync('deploy/kubernetes', { recursive: true, encoding: 'utf8' });
    const written = files
      .filter((file) => file.endsWith('.yaml') && !/kustomization\.yaml$/.test(file))
      .flatMap((file) => documents(`deploy/kubernetes/${file}`) as Resource[]);
    const names = new Set(all.map(([, resource]) => nameOf(resource)));
    expect(written.map(nameOf).filter((name) => !names.has(name))).toEqual([]);
  });
});

describe.each(built)('in %s', (_folder, resources) => {
  interface Labelled extends Resource {
    readonly spec: {
      readonly selector?: { readonly matchLabels?: Labels };
      readonly podSelector?: { readonly matchLabels: Labels };
      readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
      readonly scaleTargetRef?: { readonly name: string };
    };
  }
  type Labels = Readonly<Record<string, string>>;
  interface PodSpec {
    readonly topologySpreadConstraints: readonly { readonly labelSelector: { readonly matchLabels: Labels } }[];
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly containers: readonly { readonly securityContext: unknown; readonly resources: unknown }[];
    readonly initContainers: PodSpec['containers'];
  }
  const specs = resources.filter((one): one is Labelled => 'spec' in one);
  const deployments = specs.filter(({ kind }) => kind === 'Deployment');
  const labelsOf = ({ spec }: Labelled): Labels => spec.template?.metadata.labels ?? {};
  const isIn = (some: Labels, all: Labels) => Object.entries(some).every(([key, value]) => all[key] === value);

  it('every selector finds pods that are there', () => {
    for (const resource of specs) {
      const selectors = [
        resource.kind === 'Service' ? (resource.spec.selector as Labels) : resource.spec.selector?.matchLabels,
        resource.spec.podSelector?.matchLabels,
        ...(resource.spec.template?.spec.topologySpreadConstraints ?? []).map((one) => one.labelSelector.matchLabels),
      ].filter((one) => one !== undefined);
      for (const selector of selectors)
        expect(deployments.filter((one) => isIn(selector, labelsOf(one))).length, nameOf(resource)).toBeGreaterThan(0);
      const target = resource.spec.scaleTargetRef?.name;
      if (target !== undefined) expect(deployments.map(({ metadata }) => metadata.name)).toContain(target);
    }
  });

  it('no selector of a deployment, a service or a budget finds the pods of another one', () => {
    for (const { kind, spec, ...resource } of specs) {
      if (!['Deployment', 'PodDisruptionBudget', 'Service'].includes(kind)) continue;
      const selector = (kind === 'Service' ? spec.selector : spec.selector?.matchLabels) as Labels;
      expect(deployments.filter((one) => isIn(selector, labelsOf(one))).map(({ metadata }) => metadata.name)).toEqual([
        resource.metadata.name,
      ]);
    }
  });

  it('every pod meets the restricted Pod Security Standard, and has a limit of memory', () => {
    for (const { spec } of deployments) {
      const pod = spec.template?.spec;
      expect(pod?.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.resources).toMatchObject({
          requests: { memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        });
      }
    }
  });
});
