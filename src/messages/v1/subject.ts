import { absentWhenNull, guid, isGuid, modelId } from '../../protocol/fields.ts';

export const subjectFields = { objectId: guid.optional(), model: modelId.optional() };

/** Schema members for bodies. `null` counts as an absent `objectId` (A1). */
export const subjectInBody = { ...subjectFields, objectId: absentWhenNull(guid) };

export type Named = { readonly objectId?: string | undefined; readonly model?: string | undefined };

export function subjectDisagreements(headers: Named, body: Named): string[] {
  const disagreeing = (['objectId', 'model'] as const).filter((key) => {
    const [inProperties, inBody] = [headers[key], body[key]];
    if (inProperties === undefined || inBody === undefined) return false;
    return key === 'objectId' ? inProperties.toLowerCase() !== inBody.toLowerCase() : inProperties !== inBody;
  });
  return disagreeing.map((key) => `property ${key} and body.${key} must be the same`);
}

/** The object model of a V1 event: from the properties, the body, or both if they are equal (A9). */
export const subjectOf = (headers: Named, body: Named) => ({
  objectId: headers.objectId ?? body.objectId,
  model: headers.model ?? body.model,
});

/**
 * The values that acknowledgements of V1 events repeat, if readable; also for rejected requests.
 * @param body undefined when it was not read, or could not be: then it may have named another model than the default
 * @param otherwise the model of a request without one
 */
export function echoSubject(properties: Named, body: unknown, otherwise?: string) {
  const named = Object(body) as Record<string, unknown>;
  const objectId = [properties.objectId, named['objectId']].find(isGuid);
  const inBody = body === undefined ? undefined : (named['model'] ?? otherwise);
  const model = modelId.safeParse(properties.model ?? inBody).data;
  return { properties: { ...(objectId && { objectId }), ...(model && { model }) } };
}
