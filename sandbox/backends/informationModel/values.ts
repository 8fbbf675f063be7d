import { members } from '../requests/json.ts';
import { invalid } from '../requests/problem.ts';
import { type Field, fitsDataType } from '../typeRegistry/resolvedType.ts';
import type { TypeVersion } from '../typeRegistry/types.ts';

function checkFields(raw: string, fields: ReadonlyMap<string, Field>, part: string): void {
  const values = members(raw, `$.${part}`);
  for (const [name, value] of values) {
    const field = fields.get(name);
    if (!field) throw invalid(`$.${part}.${name.slice(0, 100)} is not declared by the type`);
    if (!fitsDataType(value, field.dataType)) {
      throw invalid(`$.${part}.${name} is not of the data type ${field.dataType}`);
    }
  }
  for (const [name, { isMandatory }] of fields) {
    if (isMandatory && (values.get(name) ?? 'null') === 'null') throw invalid(`$.${part}.${name} is mandatory`);
  }
}

/** Checks properties and variables (raw texts) against a type: declared names, data types, mandatory ones (400). */
export function checkValues(type: TypeVersion, properties: string, variables: string): void {
  checkFields(properties, type.properties, 'properties');
  checkFields(variables, type.variables, 'variables');
}
