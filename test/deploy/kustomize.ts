import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export type Tree = { readonly [key: string]: unknown };

export interface Resource extends Tree {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const known = ['apiVersion', 'kind', 'resources', 'components', 'patches'];

/**
 * What `kubectl kustomize` makes of a folder, as far as deploy/kubernetes uses it: resources, components, and patches that are
 * merged. A test compares the two.
 * @throws Error at anything else
 */
export const build = (folder: string): readonly Resource[] => apply(folder, []);

function apply(folder: string, given: readonly Resource[]): readonly Resource[] {
  const [kustomization = {}] = documents(join(folder, 'kustomization.yaml'));
  const unknown = Object.keys(kustomization).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new Error(`${folder} has ${unknown.join(', ')}, which this does not know`);
  const paths = (key: string) => ((kustomization[key] ?? []) as string[]).map((path) => join(folder, path));
  const own = paths('resources').flatMap((path) =>
    statSync(path).isDirectory() ? build(path) : (documents(path) as Resource[]),
  );
  const all = paths('components').reduce<readonly Resource[]>((some, path) => apply(path, some), [...given, ...own]);
  const twice = all.map(nameOf).filter((name, index, names) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`${folder} has ${twice.join(', ')} twice`);
  const patches = ((kustomization['patches'] ?? []) as { path: string }[]).map(({ path, ...more }) => {
    if (Object.keys(more).length > 0) throw new Error(`${folder} has a patch with ${Object.keys(more).join(', ')}`);
    return join(folder, path);
  });
  return patches.flatMap((path) => documents(path) as Resource[]).reduce(patched, all);
}

export const nameOf = ({ kind, metadata }: Resource): string => `${kind} ${metadata.name}`;

/** The documents of a YAML file. @throws Error when one is no YAML */
export const documents = (path: string): Tree[] =>
  parseAllDocuments(readFileSync(path, 'utf8')).map((document) => {
    if (document.errors[0]) throw new Error(`${path}: ${document.errors[0].message}`);
    return document.toJS() as Tree;
  });

function patched(resources: readonly Resource[], patch: Resource): readonly Resource[] {
  if (!resources.some((one) => nameOf(one) === nameOf(patch)))
    throw new Error(`${nameOf(patch)} is patched and absent`);
  return resources.map((one) => (nameOf(one) === nameOf(patch) ? (merged(one, patch) as Resource) : one));
}

/** Trees are merged, lists of what has names by these names, new ones first; everything else is replaced. */
function merged(into: unknown, from: unknown): unknown {
  if (isTree(into) && isTree(from)) {
    if ('$patch' in from) throw new Error('this knows no $patch');
    const keys = new Set([...Object.keys(into), ...Object.keys(from)]);
    return Object.fromEntries([...keys].map((key) => [key, key in from ? merged(into[key], from[key]) : into[key]]));
  }
  if (!Array.isArray(into) || !Array.isArray(from)) return from;
  if (![...into, ...from].every((one) => isTree(one) && typeof one['name'] === 'string')) return from;
  const names = new Set(into.map(({ name }) => name));
  const kept = into.map((one) => merged(one, from.find(({ name }) => name === one.name) ?? {}));
  return [...from.filter(({ name }) => !names.has(name)), ...kept];
}

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The ways to deploy, each of which somebody applies as it is. */
export const overlays = [
  'deploy/kubernetes/overlays/front-door',
  'deploy/kubernetes/overlays/with-identity',
  'deploy/kubernetes/overlays/with-keys',
] as const;
