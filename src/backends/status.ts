/** What an HTTP status says about the backend, the attempt and its effect (B4, B5). */

const passing = new Set([401, 408, 425, 429, 500, 502, 503, 504]);
const outage = new Set([401, 502, 503, 504]);
const effectUnknown = new Set([500, 502, 504]);

/** Another attempt may fare better; 500 only a few times. */
export const isPassing = (status: number): boolean => passing.has(status);

/** The backend is out, or what stands before it, or our access to it. */
export const isOutage = (status: number): boolean => outage.has(status);

export const isHealthy = (status: number): boolean => status < 500 && !passing.has(status);

/** The backend may have done its work all the same. */
export const hidesEffect = (status: number): boolean => effectUnknown.has(status);
