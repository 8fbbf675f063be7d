import { catalogue } from '../messages/index.ts';
import type { Generation } from '../protocol/event.ts';
import { Rejection } from '../protocol/rejection.ts';
import { nearest } from '../text/nearest.ts';

/** Most characters of a name that are repeated. */
const longest = 64;

/** The rejection of an unknown `action` or `eventType` (R8), with the nearest known name. */
export function unknownName(generation: Generation, name: string): Rejection {
  const names = catalogue.filter((card) => card.generation === generation).map((card) => card.name);
  const property = generation === 'V2' ? 'action' : 'eventType';
  const details = `${property} ${shown(name)} is not one of this service; the nearest is ${nearest(name, names)}`;
  return new Rejection('operation_not_supported', details);
}

/** In quotes, without invisible and control characters. */
function shown(name: string): string {
  const plain = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd').replaceAll('"', "'");
  return `"${plain.length <= longest ? plain : `${plain.slice(0, longest).toWellFormed()}…`}"`;
}
