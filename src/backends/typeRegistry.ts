import { z } from 'zod';
import { parseTypeRef, type TypeRef } from '../protocol/fields.ts';
import { type Json, keysOf, parseJson, pick, pickSmall, tooLargeReason } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Cache } from './cache.ts';
import { isDefinedBy } from './informationModel.ts';
import { path } from './percentEncoding.ts';
import { type AnswerReading, type Call, membersOf, type Send } from './sending.ts';

export type TypeDefinition = z.infer<typeof typeDefinition>;
const typeVersion = z.object({ typeId: z.string(), version: z.string() });
const typeDefinition = typeVersion.extend({
  /** Includes those of the base types; missing when the registry does not resolve base types. */
  uniqueProperties: z.array(z.string()).nullish(),
  unique: z.array(z.string()).nullish(),
  baseTypes: z.array(z.string()).nullish(),
});

const created = membersOf(typeVersion);
const ofDefinition = membersOf(typeDefinition);

/** The members that the service reads; they have room for the most names and base types of a look-up (D31). */
const definition: AnswerReading<TypeDefinition> = {
  keys: ofDefinition.keys,
  result(answer) {
    for (const [name, member] of answer.members) {
      const excess = tooLargeReason(member);
      if (excess === undefined) continue;
      throw new Rejection('response_too_large', `type registry: ${name} of the type definition ${excess}`);
    }
    return ofDefinition.result(answer);
  },
};

export type TypeRegistry = ReturnType<typeof typeRegistry>;

/** @param latestMs how long the latest version, or the latest of a major version, is cached (B3) */
export function typeRegistry(send: Send, call: Call, cache: Cache<TypeDefinition>, latestMs: number) {
  return {
    /** Undefined when the type does not exist. @param version full or major; undefined for the latest */
    getType: cached(send, call, cache, latestMs, definition),

    /** After a lost response, an existing version with the sent content counts as created (B4). @throws Refusal 409 when the version exists */
    async createType(model: string, body: string): Promise<{ typeId: string; version: string }> {
      try {
        const request = { operation: 'create type definition', method: 'POST', body, expect: [409] } as const;
        const target = path`/modelDefinitions/${model}/types`;
        const { value, refusal, lost } = await send({ ...request, path: target, read: created });
        if (!refusal) return value;
        const sent = parseJson(body);
        const named = typeVersion.safeParse(pickSmall(sent, ['typeId', 'version'])).data;
        if (!lost || named === undefined || !isFullTypeRef(named)) throw refusal; // D1
        const whole: AnswerReading<Json> = { keys: keysOf(sent.members.keys()), result: (answer) => answer };
        const stored = await send({ ...read, path: definitionPath(model, named.typeId, named.version), read: whole });
        if (stored.value && isDefinedBy(sent, stored.value)) return named;
        throw refusal;
      } finally {
        cache.forget(call.deviceId);
      }
    },
  };
}

/** Reads types of which earlier answers are kept (B3); undefined for one that does not exist. */
const cached =
  <T>(send: Send, call: Call, cache: Cache<T>, latestMs: number, reading: AnswerReading<T>) =>
  (model: string, typeId: string, version: string | undefined): Promise<T | undefined> => {
    const ttlMs = isFullVersion(version) ? Number.POSITIVE_INFINITY : latestMs;
    return cache.get(call, JSON.stringify([model, typeId, version]), ttlMs, async () => {
      return (await send({ ...read, path: definitionPath(model, typeId, version), read: reading })).value;
    });
  };

const definitionPath = (model: string, typeId: string, version: string | undefined): string =>
  version === undefined
    ? path`/modelDefinitions/${model}/types/${typeId}`
    : path`/modelDefinitions/${model}/types/${typeId}/versions/${version}`;

const read = { operation: 'read type definition', method: 'GET', expect: [404] } as const;

/** A type of a full version never changes (B3). */
export const isFullVersion = (version: string | undefined): boolean =>
  version !== undefined && /^\d+\.\d+\.\d+$/.test(version);

/** Whether type id and version of a body can be used as segments of a path. */
const isFullTypeRef = ({ typeId, version }: { typeId: string; version: string }): boolean =>
  parseTypeRef(`${typeId}@${version}`)?.version?.includes('.') ?? false;

/** Data types by input name. */
export type DeclaredInputs = ReadonlyMap<string, string>;

export type TypeMethods = Readonly<z.infer<typeof typeMethods>>;

export interface Lineage {
  /** The nearest first; empty when the registry does not know the type itself. */
  readonly types: readonly TypeMethods[];
  /** References to types that the registry does not know. */
  readonly unknown: readonly string[];
}

/**
 * The inputs of a method: a type that declares it again keeps the inputs of its base types, and of an input that is
 * declared twice the nearest declaration counts (M4). Undefined when no type declares the method.
 */
export function inputsIn({ types }: Lineage, method: string): DeclaredInputs | undefined {
  const declarations = types.flatMap(({ methods }) => methods.get(method) ?? []);
  if (declarations.length < 2) return declarations[0];
  return new Map(declarations.toReversed().flatMap((inputs) => [...inputs]));
}

/** zod's records drop a key named `__proto__`. */
const mapOf = <T extends z.ZodType>(member: T) =>
  z
    .unknown()
    .refine((value) => typeof value === 'object' && !Array.isArray(value))
    .transform((value) => new Map(Object.entries(value as object)))
    .pipe(z.map(z.string(), member));

const inputs = mapOf(z.object({ dataType: z.string() }).transform(({ dataType }) => dataType));
const method = z.object({ input: z.preprocess((given) => given ?? {}, inputs) }).transform(({ input }) => input);
const typeMethods = z.object({
  methods: z.preprocess((given) => given ?? {}, mapOf(method)),
  baseTypes: z.preprocess((given) => given ?? [], z.array(z.string())),
});
const declaring = membersOf(typeMethods, pick);
/** Most types that are read for one method, including the type of the object. */
const maxTypes = 64;

/** @param latestMs lifetime in the cache of a type reference without a full version (B3) */
export function lineages(send: Send, call: Call, cache: Cache<TypeMethods>, latestMs: number) {
  const load = cached(send, call, cache, latestMs, declaring);

  return async function lineageOf(model: string, type: TypeRef): Promise<Lineage> {
    const refs = new Map([[nameOf(type), type]]);
    const types: TypeMethods[] = [];
    const unknown: string[] = [];
    // The loop includes types that are added during it; a cycle of base types adds none.
    for (const [name, ref] of refs) {
      const found = await load(model, ref.typeId, ref.version);
      if (found === undefined) {
        unknown.push(name);
        continue;
      }
      types.push(found);
      for (const text of found.baseTypes) {
        const base = parseTypeRef(text);
        if (base === undefined) unknown.push(text);
        else refs.set(nameOf(base), base);
      }
      if (refs.size > maxTypes)
        throw new Rejection('http_response_error', `the type has more than ${maxTypes - 1} base types`);
    }
    return { types, unknown };
  };
}

const nameOf = ({ typeId, version }: TypeRef): string => (version === undefined ? typeId : `${typeId}@${version}`);
