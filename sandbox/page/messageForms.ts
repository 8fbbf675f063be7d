import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { renamed } from '../demonstration/demonstrate.ts';
import { edgeMethods } from '../demonstration/edgeMethods.ts';
import { projectDirectory } from '../state/directories.ts';
import { stories } from '../stories/index.ts';
import type { Example } from '../stories/story.ts';
import { boosterId, propertiesOf } from '../stories/wire.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

interface MessageContract {
  readonly summary: string;
  readonly headers: Json;
  readonly payload: Json;
}

/** A message that can be sent: its contract, and an example of it. */
export interface MessageForm extends MessageContract {
  readonly name: string;
  readonly example: {
    readonly title: string;
    readonly device: string;
    readonly properties: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

/** References deeper than this are left as they are: a form has only the outer members. */
const deepest = 12;

/** All messages in the order of their examples, with the contract that `docs/contracts/asyncapi.yaml` has of each. */
export function messageForms(): readonly MessageForm[] {
  const text = readFileSync(join(projectDirectory, 'docs/contracts/asyncapi.yaml'), 'utf8');
  const contract: Json & { components: { messages: Record<string, MessageContract> } } = parse(text);
  return stories.map(({ message, example: first }): MessageForm => {
    const example = startingFrom(first);
    const { summary, headers, payload } = contract.components.messages[message] as MessageContract;
    const { title, device = 'pump-1', body } = example;
    return {
      ...{ name: message, summary, headers: resolved(headers, contract), payload: resolved(payload, contract) },
      example: { title, device, properties: propertiesOf(message, example), body },
    };
  });
}

/** An example that succeeds at once: what needs an object that another example has made is about that of the demonstration. */
const startingFrom = (example: Example): Example =>
  example.properties?.['objectId'] === boosterId ? renamed(example) : example;

/** Inputs of methods, by method, with which the modules of the sandbox have answered. */
export const invocationExamples = (): Readonly<Record<string, object>> =>
  Object.fromEntries(
    edgeMethods
      .toReversed()
      .flatMap(({ method, body, expected }) =>
        expected.status === 200 ? [[method, (body as { input?: object } | undefined)?.input ?? {}] as const] : [],
      ),
  );

/** A schema with what its references lead to in their place. */
function resolved(schema: Json, contract: Json, depth = 0): Json {
  if (typeof schema !== 'object' || schema === null || depth === deepest) return schema;
  if (Array.isArray(schema)) return schema.map((one: Json) => resolved(one, contract, depth + 1));
  const { $ref, ...rest } = schema as { readonly [name: string]: Json };
  const own = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, resolved(one, contract, depth + 1)]));
  if (typeof $ref !== 'string') return own;
  return { ...(resolved(lookUp(contract, $ref), contract, depth + 1) as object), ...own };
}

// #/components/schemas/guid
function lookUp(contract: Json, pointer: string): Json {
  const names = pointer.slice('#/'.length).split('/');
  return names.reduce<Json>((at, name) => (at as Record<string, Json>)[name.replaceAll('~1', '/')] ?? null, contract);
}
