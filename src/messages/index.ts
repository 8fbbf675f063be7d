import type { Generation } from '../protocol/event.ts';
import type { Card } from './card.ts';
import { modelCreate } from './model.create.ts';

/** The catalogue: every message the service understands, by its name on the wire. */
export const catalogue: readonly Card[] = [modelCreate];

const cards = {
  V2: new Map(catalogue.filter(({ generation }) => generation === 'V2').map((card) => [card.name, card])),
  V1: new Map(catalogue.filter(({ generation }) => generation === 'V1').map((card) => [card.name, card])),
};

export const findCard = (generation: Generation, name: string): Card | undefined => cards[generation].get(name);
