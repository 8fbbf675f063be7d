/** What keeps something for the programs, by its keys in attributes. */
export const stores = ['checkpoints', 'deadLetters', 'files'] as const;

export type StoreKey = (typeof stores)[number];

/** What is asked of a store. */
export const storeOperations = ['list', 'read', 'write', 'delete'] as const;

export type StoreOperation = (typeof storeOperations)[number];

/** Why a store has not done it: it has answered so, or has not answered as it should. */
export const storeFaults = ['refused', 'unavailable'] as const;

export type StoreFault = (typeof storeFaults)[number];
