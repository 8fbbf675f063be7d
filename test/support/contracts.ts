import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

const documents = {
  ...{ informationModel: 'information-model', typeRegistry: 'type-registry', principalManager: 'principal-manager' },
  methods: 'methods',
};

/** One call of a backend, or of the front door, and its answer. Bodies are JSON text or parsed values; absent when there was none. */
export interface Exchange {
  readonly backend: keyof typeof documents;
  readonly method: string;
  /** Path and query as sent, percent-encoded. */
  readonly path: string;
  /** Checked for required headers when given; names in lower case. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  readonly requestBody?: unknown;
  readonly status: number;
  readonly responseBody?: unknown;
  /** Held against the described headers when given; names in lower case. */
  readonly responseHeaders?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

type Parameter = Readonly<{ name: string; in: 'header' | 'path' | 'query'; required?: boolean; schema: object }>;

type Content = Readonly<{ content?: { readonly 'application/json': { readonly schema: object } } }>;

type Referable<T> = T | { readonly $ref: string };

interface Answer extends Content {
  readonly headers?: Readonly<Record<string, Referable<Pick<Parameter, 'required' | 'schema'>>>>;
}

interface Operation {
  readonly parameters?: readonly Referable<Parameter>[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Referable<Answer>>>;
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function readContract(file: string) {
  const url = new URL(`../../docs/contracts/${file}.openapi.yaml`, import.meta.url);
  const contract: Contract = parse(readFileSync(url, 'utf8'));
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, allErrors: true });
  ajv.addSchema(contract, file);
  const compiled = new Map<object, ValidateFunction>();

  function resolve<T>(node: Referable<T>): T {
    if (typeof node !== 'object' || node === null || !('$ref' in node)) return node as T;
    const [, , kind = '', name = ''] = node.$ref.split('/');
    return contract.components[kind]?.[name] as T;
  }

  /** Points the schema's `$ref`s at the whole document, which holds the components. */
  function anchor(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(anchor);
    if (typeof schema !== 'object' || schema === null) return schema;
    return Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, key === '$ref' ? `${file}${value}` : anchor(value)]),
    );
  }

  function faults(schema: object, value: unknown, what: string): string[] {
    const validate = compiled.get(schema) ?? ajv.compile(anchor(schema) as object);
    compiled.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) => `${what}${error.instancePath} ${error.message}`);
  }

  /** The template whose segments fit; fixed ones are stronger than parameters. */
  function match(path: string): { item: Readonly<Record<string, unknown>>; values: Map<string, string> } | undefined {
    const segments = path.split('/');
    for (const [template, item] of Object.entries(contract.paths)) {
      const parts = template.split('/');
      if (parts.length !== segments.length) continue;
      const values = new Map<string, string>();
      const fits = parts.every((part, i) => {
        if (!part.startsWith('{')) return part === segments[i];
        values.set(part.slice(1, -1), segments[i] ?? '');
        return segments[i] !== '';
      });
      if (fits) return { item, values };
    }
    return undefined;
  }

  return { contract, match, resolve, faults };
}

const contracts = new Map<string, ReturnType<typeof readContract>>();

function contractOf(backend: Exchange['backend']) {
  const known = contracts.get(backend) ?? readContract(documents[backend]);
  contracts.set(backend, known);
  return known;
}

/** The operations that a backend's contract describes, such as `PUT /devices/{id}`, each with its statuses. */
export function describedOperations(backend: Exchange['backend']): Map<string, string[]> {
  const operations = new Map<string, string[]>();
  for (const [path, item] of Object.entries(contractOf(backend).contract.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (method === 'parameters') continue;
      operations.set(`${method.toUpperCase()} ${path}`, Object.keys((operation as Operation).responses));
    }
  }
  return operations;
}

const parsed = (body: unknown): unknown => (typeof body === 'string' && body !== '' ? JSON.parse(body) : body);

/**
 * Holds an exchange against the backend's OpenAPI document; answers what is wrong with it, nothing when it complies.
 * What was asked is only checked when it was not refused: a refused request may be as wrong as the refusal says.
 */
export function validateExchange(exchange: Exchange): string[] {
  const { backend, method, path, requestHeaders, requestBody, status, responseBody, responseHeaders } = exchange;
  const { match, resolve, faults } = contractOf(backend);
  const [pathname = '', queryText = ''] = path.split('?', 2);
  const found = match(pathname);
  const operation = found?.item[method.toLowerCase()] as Operation | undefined;
  if (!found || !operation) return [`${method} ${pathname} is not described`];
  const wrong: string[] = [];

  if (status < 400) {
    const query = new URLSearchParams(queryText);
    const shared = (found.item['parameters'] ?? []) as readonly Referable<Parameter>[];
    const parameters = [...shared, ...(operation.parameters ?? [])].map(resolve);
    const sources = {
      path: (name: string) => decodeURIComponent(found.values.get(name) ?? ''),
      query: (name: string) => query.get(name) ?? undefined,
      header: (name: string) => requestHeaders?.[name],
    };
    for (const { name, in: place, required, schema } of parameters) {
      const value = sources[place](name);
      if (value !== undefined) wrong.push(...faults(schema, value, `${place} ${name}`));
      else if (required && (place !== 'header' || requestHeaders)) wrong.push(`${place} ${name} is missing`);
    }
    const known = new Set(parameters.filter((p) => p.in === 'query').map((p) => p.name));
    for (const name of query.keys()) if (!known.has(name)) wrong.push(`query ${name} is not described`);

    const schema = operation.requestBody?.content?.['application/json'].schema;
    const hasBody = requestBody !== undefined && requestBody !== '';
    if (schema && !hasBody) wrong.push('request body is missing');
    if (!schema && hasBody) wrong.push('request body is not described');
    if (schema && hasBody) wrong.push(...faults(schema, parsed(requestBody), 'request body'));
  }

  const described = operation.responses[String(status)];
  if (!described) return [...wrong, `status ${status} is not described`];
  const { headers = {}, content } = resolve(described);
  for (const [name, header] of responseHeaders ? Object.entries(headers) : []) {
    const { required, schema } = resolve(header);
    const value = responseHeaders?.[name.toLowerCase()];
    if (value !== undefined) wrong.push(...faults(schema, value, `answer header ${name}`));
    else if (required) wrong.push(`answer header ${name} is missing`);
  }
  const schema = content?.['application/json'].schema;
  const hasAnswer = responseBody !== undefined && responseBody !== null && responseBody !== '';
  if (schema) wrong.push(...faults(schema, hasAnswer ? parsed(responseBody) : undefined, 'response body'));
  else if (hasAnswer) wrong.push('response body is not described');
  return wrong;
}

/** The same for an answer on a path that the contract does not describe: by one of its schemas. */
export function validateValue(backend: Exchange['backend'], schema: string, value: unknown): string[] {
  const { contract, faults } = contractOf(backend);
  return faults(contract.components['schemas']?.[schema] as object, value, schema);
}
