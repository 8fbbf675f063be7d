/** Tells the operator what is not part of the result. */
export const say = (text: string): boolean => process.stderr.write(`${text}\n`);
