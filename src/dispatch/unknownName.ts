import { catalogue } from '../messages/index.ts';
import type { Generation } from '../protocol/event.ts';
import { Rejection } from '../protocol/rejection.ts';
import { nearest } from '../text/nearest.ts';

/** As much of a name as is repeated. */
const longest = 64;

/** The refusal of an `action` or `eventType` that no card has (R8): names it, and the name that was probably meant. */
export function unknownName(generation: Generation, name: string): Rejection {
  const names = catalogue.filter((card) => card.generation === generation).map((card) => card.name);
  const property = generation === 'V2' ? 'action' : 'eventType';
  const details = `${property} ${shown(name)} is not one of this service; the nearest is ${nearest(name, names)}`;
  return new Rejection('operation_not_supported', details);
}

/** In quotes, without what could hide in a log or on a screen. */
function shown(name: string): string {
  const plain = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd').replaceAll('"', "'");
  return `"${plain.length <= longest ? plain : `${plain.slice(0, longest).toWellFormed()}…`}"`;
}
