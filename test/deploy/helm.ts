import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { documents, isTree, type Resource, type Tree } from './kustomize.ts';

/**
 * What `helm template` makes of a chart, as far as deploy/helm uses the language: values, `.Release.Namespace`, `.Files.Get`, `define`, `if` with `not`
 * and `else`, `with`, `include`, `toYaml`, `nindent`, trimmed spaces and comments.
 * @param given are merged over those of values.yaml
 * @throws Error at anything else, and where a template prints a value that is not there
 */
export function template(
  folder: string,
  given: Tree = {},
): { readonly resources: readonly Resource[]; readonly notes: string } {
  const files = readdirSync(join(folder, 'templates')).sort();
  const read = (file: string) => parse(readFileSync(join(folder, 'templates', file), 'utf8'), file);
  const defined = new Map<string, readonly Node[]>();
  const scope: Scope = { defined, fileOf: (name) => readFileSync(join(folder, name), 'utf8') };
  const root = { Values: valuesOf(folder, given), Release: { Namespace: 'device-messaging' } };
  for (const file of files.filter((name) => name.endsWith('.tpl')))
    for (const node of read(file))
      if (node.is === 'block' && node.verb === 'define') defined.set(JSON.parse(node.of), node.body);
  const rendered = (file: string) => render(read(file), root, scope);
  const resources = files
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((file) =>
      // Helm reads YAML 1.1, in which `on` is a boolean.
      parseAllDocuments(rendered(file), { version: '1.1' }).flatMap((document) => {
        if (document.errors[0]) throw new Error(`${file}: ${document.errors[0].message}`);
        const resource = document.toJS() as Resource | null;
        return resource === null ? [] : [resource];
      }),
    );
  return { resources, notes: rendered('NOTES.txt') };
}

/** Those of values.yaml with others merged over them: maps by their keys, everything else as a whole; null removes. */
export const valuesOf = (folder: string, given: Tree): Tree =>
  over(documents(join(folder, 'values.yaml'))[0] ?? {}, given);

const over = (into: Tree, from: Tree): Tree => {
  const merged = Object.entries(from).map(([key, value]) => {
    const before = into[key];
    return [key, isTree(before) && isTree(value) ? over(before, value) : value];
  });
  return Object.fromEntries(
    Object.entries({ ...into, ...Object.fromEntries(merged) }).filter(([, value]) => value !== null),
  );
};

interface Scope {
  readonly defined: ReadonlyMap<string, readonly Node[]>;
  readonly fileOf: (name: string) => string;
}

type Node =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'value'; readonly pipeline: string }
  | {
      readonly is: 'block';
      readonly verb: string;
      readonly of: string;
      readonly body: Node[];
      readonly otherwise: Node[];
    };

/** `{{ … }}`: with `-` the white space before or behind it is trimmed. */
const action = /(\s*\{\{- |\{\{(?!- ))\s*(\/\*.*?\*\/|.*?)\s*( -\}\}\s*|\}\})/gs;

function parse(text: string, file: string): readonly Node[] {
  const top: Node[] = [];
  const open: { readonly block: Node & { is: 'block' }; into: Node[] }[] = [];
  const into = () => open.at(-1)?.into ?? top;
  let end = 0;
  for (const match of text.matchAll(action)) {
    const [whole, , inside = ''] = match;
    into().push({ is: 'text', text: text.slice(end, match.index) });
    end = match.index + whole.length;
    const [, verb = '', of = ''] = /^(define|if|with|else|end)\b\s*(.*)$/.exec(inside) ?? [];
    const within = open.at(-1);
    if (verb === 'define' || verb === 'if' || verb === 'with') {
      const block = { is: 'block' as const, verb, of, body: [], otherwise: [] };
      into().push(block);
      open.push({ block, into: block.body });
    } else if (verb !== '' && (within === undefined || of !== ''))
      throw new Error(`${file}: ${whole} has no beginning`);
    else if (verb === 'else' && within) within.into = within.block.otherwise;
    else if (verb === 'end') open.pop();
    else if (!inside.startsWith('/*')) into().push({ is: 'value', pipeline: inside });
  }
  if (open.length > 0) throw new Error(`${file}: ${open.at(-1)?.block.verb} has no end`);
  return [...top, { is: 'text', text: text.slice(end) }];
}

function render(nodes: readonly Node[], dot: unknown, scope: Scope): string {
  const texts = nodes.map((node) => {
    if (node.is === 'text') return node.text;
    if (node.is === 'value') return printed(node.pipeline, dot, scope);
    if (node.verb === 'define') return '';
    const [, not, path = ''] = /^(not )?(\S+)$/.exec(node.of) ?? [];
    const value = valueAt(path, dot);
    if (isTrue(value) === (not === undefined)) return render(node.body, node.verb === 'with' ? value : dot, scope);
    return render(node.otherwise, dot, scope);
  });
  return texts.join('');
}

/** As in Go: what is empty is false. */
const isTrue = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isTree(value) ? Object.keys(value).length > 0 : Boolean(value);

function printed(pipeline: string, dot: unknown, scope: Scope): string {
  const [first = '', ...more] = pipeline.split(/\s+\|\s+/);
  const [, verb = '', words = ''] = /^(include|toYaml|\.Files\.Get) (.+)$/.exec(first) ?? [];
  let value: unknown;
  if (verb === 'include') {
    const [name = '', argument = ''] = words.split(/\s+/);
    const nodes = scope.defined.get(JSON.parse(name));
    if (nodes === undefined) throw new Error(`nothing defines ${name}`);
    value = render(nodes, argument.startsWith('"') ? JSON.parse(argument) : valueAt(argument, dot), scope);
  } else if (verb === 'toYaml') value = stringify(valueAt(words, dot), { version: '1.1', lineWidth: 0 }).trimEnd();
  else if (verb === '.Files.Get') value = scope.fileOf(JSON.parse(words));
  else value = valueAt(first, dot);
  for (const one of more) {
    const [, spaces] = /^nindent (\d+)$/.exec(one) ?? [];
    if (spaces === undefined) throw new Error(`{{ ${pipeline} }}: ${one} is not known here`);
    value = `\n${value}`.replaceAll('\n', `\n${' '.repeat(Number(spaces))}`);
  }
  if (value === undefined || value === null || typeof value === 'object')
    throw new Error(`{{ ${pipeline} }} is no text, number or boolean`);
  return String(value);
}

/** `.` is the dot; a path begins at it. Its last key may be absent, as `if` asks for it. */
function valueAt(path: string, dot: unknown): unknown {
  if (!/^(\.|(\.\w+)+)$/.test(path)) throw new Error(`{{ ${path} }} is not known here`);
  const keys = path.split('.').filter(Boolean);
  return keys.reduce<unknown>((value, key) => {
    if (!isTree(value)) throw new Error(`{{ ${path} }} has no ${key}: what is before it is no map`);
    return value[key];
  }, dot);
}
