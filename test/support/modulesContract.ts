import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { parse } from 'yaml';

export const modulesContractFile = 'docs/contracts/modules.asyncapi.yaml';

const document = parse(readFileSync(modulesContractFile, 'utf8'));
const ajv = new Ajv({ strict: false, validateSchema: false });
ajv.addSchema(document, 'modules');
const isA = (message: string) => ajv.compile({ $ref: `modules#/components/messages/${message}/payload` });
const payloads = { method: isA('invocation'), proxy: isA('proxyInvocation'), reply: isA('reply') };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const integer = /^(0|-?[1-9]\d*)$/;

/** What a message has against the contract, in words without its content. `topic` stands behind `{in}/` or `{out}/`. */
export function breachesOfModule(direction: 'in' | 'out', topic: string, payload: string): string[] {
  const [first = '', requestId = '', ...more] = topic.split('/');
  const channel = direction === 'out' ? 'reply' : first === '$proxy' ? 'proxy' : 'method';
  const isTopic =
    more.length === 0 && uuid.test(requestId) && (direction === 'in' ? first !== '' : integer.test(first));
  const mayBeEmpty = channel !== 'proxy';
  const isPayload = (payload === '' && mayBeEmpty) || payloads[channel](read(payload));
  return [
    ...(isTopic ? [] : [`${channel}: the topic is none of the contract`]),
    ...(isPayload ? [] : [`${channel}: the payload is none of the contract`]),
  ];
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
