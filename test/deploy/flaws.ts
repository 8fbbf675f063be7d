import * as keda from '@kubernetes-models/keda/keda.sh/v1alpha1';
import * as operator from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import * as apps from 'kubernetes-models/apps/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import { settingDocs } from '../../src/settings/config.ts';
import { isTree, type Resource, type Tree } from './kustomize.ts';

/** Each with the schema that its authors generate from the types of Kubernetes and of the two operators. */
const models: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ...{ v1: core, 'apps/v1': apps, 'networking.k8s.io/v1': networking, 'policy/v1': policy, 'keda.sh/v1alpha1': keda },
  'monitoring.coreos.com/v1': operator,
};

const labels = [...['app.kubernetes.io/name', 'app.kubernetes.io/part-of', 'azure.workload.identity/use', 'release']];
const resources = ['cpu', 'memory', 'ephemeral-storage'];

/** By the key of a map for which the schema takes any key: those that mean something. */
const mapKeys: Readonly<Record<string, readonly string[]>> = {
  ...{ labels: [...labels, 'severity', 'service', 'url'], selector: labels },
  matchLabels: [...labels, 'kubernetes.io/metadata.name'],
  annotations: ['azure.workload.identity/client-id', 'summary', 'description', 'runbook_url'],
  data: settingDocs().map(({ env }) => env),
  requests: resources,
  nodeSelector: ['kubernetes.io/arch'],
  limits: resources,
  // Of KEDA's trigger for Prometheus.
  metadata: ['serverAddress', 'query', 'threshold', 'ignoreNullValues'],
};

/** By its key: the least and the most that a number may be. The schemas take any. */
const ranges: Readonly<Record<string, readonly [least: number, most: number]>> = {
  ...{ replicas: [1, 100], minReplicaCount: [1, 32], maxReplicaCount: [1, 32], pollingInterval: [1, 3_600] },
  ...{ stabilizationWindowSeconds: [0, 3_600], value: [1, 32], periodSeconds: [1, 1_800], maxSurge: [0, 32] },
  ...{ maxUnavailable: [0, 32], minReadySeconds: [0, 600], progressDeadlineSeconds: [1, 3_600] },
  ...{ revisionHistoryLimit: [1, 100], terminationGracePeriodSeconds: [1, 600], runAsUser: [1, 65_534] },
  ...{ runAsGroup: [1, 65_534], fsGroup: [1, 65_534], maxSkew: [1, 32], containerPort: [1, 65_535], port: [1, 65_535] },
  ...{ timeoutSeconds: [1, 60], failureThreshold: [1, 1_000], seconds: [1, 60], defaultMode: [0, 0o777] },
};

/** By its key: what a text has to be that the schema takes as it is. */
const texts: Readonly<Record<string, RegExp>> = {
  ...{ threshold: /^[1-9]\d*$/, ignoreNullValues: /^(true|false)$/, serverAddress: /^https?:\/\/[\w.-]+:\d+$/ },
  ...{ cpu: /^[1-9]\d*m?$/, memory: /^[1-9]\d*(Mi|Gi)$/, 'ephemeral-storage': /^[1-9]\d*(Mi|Gi)$/ },
};

/** What the second may not be above. */
const orders: readonly (readonly [lower: string, upper: string])[] = [
  ['minReplicaCount', 'maxReplicaCount'],
  ['minReadySeconds', 'progressDeadlineSeconds'],
  ['scrapeTimeout', 'interval'],
];

/**
 * What is wrong with a resource, in sentences: by the schema of its kind, by keys that the schema or a map does not have, and by
 * ranges.
 */
export function flawsOf(resource: Resource): readonly string[] {
  const { read, isMap, error } = validated(resource);
  const flaws = error === undefined ? [] : [error];
  for (const { path, key, value, within } of entriesOf(resource)) {
    if (!read.has(path)) flaws.push(`${path} is no key`);
    const known = isMap.has(path) ? (mapKeys[key] ?? []) : undefined;
    if (known && isTree(value))
      flaws.push(...Object.keys(value).flatMap((one) => (known.includes(one) ? [] : [`${path} takes no ${one}`])));
    const [least, most] = ranges[key] ?? [0, -1];
    if (typeof value === 'number' && !(value >= least && value <= most)) flaws.push(`${path} must not be ${value}`);
    if (typeof value === 'string' && texts[key]?.test(value) === false) flaws.push(`${path} must not be ${value}`);
    const [, upper = ''] = orders.find(([lower]) => lower === key) ?? [];
    if (Number.parseFloat(String(value)) > Number.parseFloat(String(within[upper])))
      flaws.push(`${path} must not be above ${upper}`);
  }
  return flaws;
}

/**
 * A compiled schema takes keys that it does not know: it never looks at them. So it is watched at what it reads, and which objects
 * it goes through as maps.
 */
function validated(resource: Resource) {
  const read = new Set<string>();
  const isMap = new Set<string>();
  const watched = <T extends object>(tree: T, path: string): T =>
    new Proxy(tree, {
      get(target, key, receiver) {
        const value: unknown = Reflect.get(target, key, receiver);
        if (typeof key !== 'string') return value;
        read.add(`${path}/${key}`);
        return typeof value === 'object' && value !== null ? watched(value, `${path}/${key}`) : value;
      },
      ownKeys(target) {
        isMap.add(path);
        return Reflect.ownKeys(target);
      },
    });
  const model = models[resource.apiVersion]?.[resource.kind] as { prototype: { validate(): void } } | undefined;
  if (model === undefined) return { read, isMap, error: `no schema for ${resource.apiVersion} ${resource.kind}` };
  try {
    model.prototype.validate.call(watched(resource, ''));
    return { read, isMap };
  } catch (error) {
    return { read, isMap, error: String(error) };
  }
}

/** A key at any level, with what it is in. */
export type Entry = Readonly<{ path: string; key: string; value: unknown; within: Tree }>;

export function entriesOf(tree: unknown, path = ''): readonly Entry[] {
  if (Array.isArray(tree)) return tree.flatMap((item, index) => entriesOf(item, `${path}/${index}`));
  if (!isTree(tree)) return [];
  return Object.entries(tree).flatMap(([key, value]) => [
    { path: `${path}/${key}`, key, value, within: tree },
    ...entriesOf(value, `${path}/${key}`),
  ]);
}
