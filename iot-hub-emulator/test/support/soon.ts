/** What is waited for comes at once, or on a busy machine late. */
export const soon = { timeout: 120_000, interval: 25 };
