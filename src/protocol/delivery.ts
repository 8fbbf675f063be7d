/** Why a reply is dropped. */
export const dropReasons = [
  'hub_unavailable',
  'queue_full',
  'throttled',
  'unanswered',
  'not_taken',
  'unknown_device',
  'too_large',
  'refused',
] as const;

export type DropReason = (typeof dropReasons)[number];

/** Why the hub did not take a reply in one attempt; for the last two it is sent again until the hub takes it. */
export const refusalReasons = [...dropReasons, 'quota', 'suspended'] as const;

export type RefusalReason = (typeof refusalReasons)[number];

/** The result for a reply: accepted by the hub, dropped for good, or stopped because the session has ended. */
export type Delivery = 'delivered' | 'stopped' | { readonly dropped: DropReason };
