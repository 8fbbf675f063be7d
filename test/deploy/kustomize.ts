import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export type Tree = { readonly [key: string]: unknown };

export interface Resource extends Tree {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const known = ['apiVersion', 'kind', 'namespace', 'resources', 'components', 'patches', 'images'];

/**
 * What `kubectl kustomize` makes of a folder, as far as deploy/kubernetes uses it: resources, components, patches that are
 * merged, a namespace (for kinds that have one), and images. A test compares the two.
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
  const patches = ((kustomization['patches'] ?? []) as Patch[]).flatMap(({ path, target, ...more }) => {
    const unknown = Object.keys({ ...more, ...target }).filter((key) => !['kind', 'name'].includes(key));
    if (unknown.length > 0) throw new Error(`${folder} has a patch with ${unknown.join(', ')}`);
    const [patch, ...others] = documents(join(folder, path)) as Resource[];
    // kubectl 1.30, the oldest that is promised, takes no more
    if (patch === undefined || others.length > 0) throw new Error(`${folder}/${path} must have one document`);
    return [{ patch, target }];
  });
  const namespace = kustomization['namespace'] as string | undefined;
  const images = (kustomization['images'] ?? []) as Image[];
  return patches
    .reduce(patched, all)
    .map((one) => (namespace === undefined ? one : { ...one, metadata: { ...one.metadata, namespace } }))
    .map((one) => images.reduce((before, image) => withImage(before, image), one));
}

type Target = Readonly<{ kind: string; name?: string }>;
type Patch = Readonly<{ path: string; target?: Target }>;
type Image = Readonly<{ name: string; newName: string; newTag: string }>;

function withImage<T>(tree: T, { name, newName, newTag }: Image): T {
  if (Array.isArray(tree)) return tree.map((one) => withImage(one, { name, newName, newTag })) as T;
  if (!isTree(tree)) return tree;
  const entries = Object.entries(tree).map(([key, value]) => [
    key,
    key === 'image' && value === name ? `${newName}:${newTag}` : withImage(value, { name, newName, newTag }),
  ]);
  return Object.fromEntries(entries) as T;
}

export const nameOf = ({ kind, metadata }: Resource): string => `${kind} ${metadata.name}`;

/** The documents of a YAML file. @throws Error when one is no YAML */
export const documents = (path: string): Tree[] =>
  parseAllDocuments(readFileSync(path, 'utf8')).map((document) => {
    if (document.errors[0]) throw new Error(`${path}: ${document.errors[0].message}`);
    return document.toJS() as Tree;
  });

/** With a target all that it finds are patched, which may be none; otherwise the one with the patch's kind and name. */
function patched(
  resources: readonly Resource[],
  { patch, target }: { readonly patch: Resource; readonly target: Target | undefined },
): readonly Resource[] {
  const { kind, name } = target ?? { kind: patch.kind, name: patch.metadata.name };
  const isMeant = (one: Resource) => one.kind === kind && (name === undefined || one.metadata.name === name);
  if (target === undefined && !resources.some(isMeant)) throw new Error(`${nameOf(patch)} is patched and absent`);
  return resources.map((one) =>
    isMeant(one)
      ? (merged(one, { ...patch, metadata: { ...patch.metadata, name: one.metadata.name } }) as Resource)
      : one,
  );
}

/** Trees are merged, null removes, lists of what has names by these names, new ones first; everything else is replaced. */
function merged(into: unknown, from: unknown): unknown {
  if (isTree(into) && isTree(from)) {
    if ('$patch' in from) throw new Error('this knows no $patch');
    const keys = new Set([...Object.keys(into), ...Object.keys(from)]);
    return Object.fromEntries(
      [...keys].flatMap((key) => {
        if (from[key] === null) return [];
        return [[key, key in from ? merged(into[key], from[key]) : into[key]]];
      }),
    );
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
  'deploy/kubernetes/overlays/complete',
  'deploy/kubernetes/overlays/with-identity',
  'deploy/kubernetes/overlays/with-identity-and-front-door',
  'deploy/kubernetes/overlays/with-keys',
  'deploy/kubernetes/overlays/with-keys-and-front-door',
] as const;
