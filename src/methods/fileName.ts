/** 1 to 1,024 characters; segments joined by `/`, none of them empty, `.` or `..`; no control characters, no `\` (M9). */
const fileName =
  /^(?=.{1,1024}$)(?!\.{1,2}(?:\/|$))[^\p{Cc}\p{Cs}\\/]+(?:\/(?!\.{1,2}(?:\/|$))[^\p{Cc}\p{Cs}\\/]+)*$/su;

/** Why a value is not a file name, as the end of a sentence; undefined when it is one (M9). */
export const fileNameProblem = (value: unknown): string | undefined =>
  typeof value === 'string' && fileName.test(value)
    ? undefined
    : 'must be a file name: 1 to 1,024 characters, no control characters, no \\, no leading /, no empty, . or .. segment';

/** The folder of the caller's tenant (M9); undefined when the claim is not a valid folder name. */
export function tenantFolder(claims: Readonly<Record<string, unknown>>, claim: string): string | undefined {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  const isSegment = typeof value === 'string' && !value.includes('/') && fileNameProblem(value) === undefined;
  return isSegment && value.length <= 128 ? value : undefined;
}
