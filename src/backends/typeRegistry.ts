import { z } from 'zod';
import { parseTypeRef } from '../protocol/fields.ts';
import { type Json, keysOf, parseJson, pick, pickSmall, tooLargeReason } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { AnswerReading } from './answer.ts';
import type { Cache } from './cache.ts';
import type { Call, Send } from './call.ts';
import { isDefinedBy } from './lostAnswers.ts';
import { path } from './percentEncoding.ts';

/** The members of a type definition that the service reads. */
export type TypeDefinition = z.infer<typeof typeDefinition>;

const typeVersion = z.object({ typeId: z.string(), version: z.string() });
const typeDefinition = typeVersion.extend({
  /** Includes those of the base types; missing when the registry does not resolve base types. */
  uniqueProperties: z.array(z.string()).nullish(),
  unique: z.array(z.string()).nullish(),
  baseTypes: z.array(z.string()).nullish(),
});

const definitionMembers = typeDefinition.keyof().options;

/** The members that the service reads; they have room for the most names and base types of a look-up (D31). */
const definition: AnswerReading<TypeDefinition> = {
  keys: keysOf(definitionMembers),
  result(answer) {
    for (const [name, member] of answer.members) {
      const excess = tooLargeReason(member);
      if (excess === undefined) continue;
      throw new Rejection('response_too_large', `type registry: ${name} of the type definition ${excess}`);
    }
    return typeDefinition.parse(pick(answer, definitionMembers));
  },
};

const created: AnswerReading<z.infer<typeof typeVersion>> = {
  keys: keysOf(['typeId', 'version']),
  result: (answer) => typeVersion.parse(pickSmall(answer, ['typeId', 'version'])),
};

export type TypeRegistry = ReturnType<typeof typeRegistry>;

/** @param latestMs how long the latest version, or the latest of a major version, is cached (B3) */
export function typeRegistry(send: Send, call: Call, cache: Cache<TypeDefinition>, latestMs: number) {
  const at = definitionPath;

  return {
    /**
     * Undefined when the type does not exist.
     * @param version full or major; undefined for the latest
     */
    getType(model: string, typeId: string, version: string | undefined): Promise<TypeDefinition | undefined> {
      const key = JSON.stringify([model, typeId, version]);
      return cache.get(call, key, isFullVersion(version) ? Number.POSITIVE_INFINITY : latestMs, async () => {
        const request = { ...read, path: at(model, typeId, version) };
        return (await send({ ...request, read: definition })).value;
      });
    },

    /**
     * Creates a type version. After a lost response, an existing version with the sent content counts as created (B4).
     * @throws Refusal 409 when the version exists
     */
    async createType(model: string, body: string): Promise<{ typeId: string; version: string }> {
      try {
        const { value, refusal, lost } = await send({
          operation: 'create type definition',
          method: 'POST',
          path: path`/modelDefinitions/${model}/types`,
          body,
          expect: [409],
          read: created,
        });
        if (!refusal) return value;
        const sent = parseJson(body);
        const named = typeVersion.safeParse(pickSmall(sent, ['typeId', 'version'])).data;
        if (!lost || named === undefined || !isFullTypeRef(named)) throw refusal; // D1
        const request = { ...read, path: at(model, named.typeId, named.version) };
        const whole: AnswerReading<Json> = { keys: keysOf(sent.members.keys()), result: (answer) => answer };
        const { value: stored } = await send({ ...request, read: whole });
        if (stored && isDefinedBy(sent, stored)) return named;
        throw refusal;
      } finally {
        cache.forget(call.deviceId);
      }
    },
  };
}

export const definitionPath = (model: string, typeId: string, version: string | undefined): string =>
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
