import { invalid } from '../requests/problem.ts';

/** A named, directed link from one object model to another. */
export interface Reference {
  readonly name: string;
  readonly to: { readonly objectId: string; readonly model: string };
  /** Raw JSON text of an object, as it was sent. */
  readonly attributes: string;
}

/** A reference is identified by its name and its target; GUIDs are equal whatever the case of their letters. A13 */
export const referenceKey = ({ name, to }: Omit<Reference, 'attributes'>): string =>
  JSON.stringify([name, to.objectId.toLowerCase(), to.model]);

/** Names of references that types declare, those of base types included. */
interface ReferenceDeclarations {
  readonly references: ReadonlySet<string>;
}

/** The name of a parent reference is declared by the parent's type, that of any other by the type of its source (400). A9 */
export function checkDeclared(
  name: string,
  isParent: boolean,
  types: { readonly source: ReferenceDeclarations; readonly target: ReferenceDeclarations },
  path: string,
): void {
  if ((isParent ? types.target : types.source).references.has(name)) return;
  throw invalid(`${path}.name is not a reference of the ${isParent ? "parent's" : "object model's"} type`);
}
