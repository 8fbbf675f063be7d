import { hostileModels, hostileObjectIds, modelFault, objectIdFault, shown } from '../../support/hostileNames.ts';
import { otherPumpId, pumpId } from '../../support/world.ts';
import type { Row } from './row.ts';
import type { Fields, Sample, Variations } from './sample.ts';

/** Which object and model an event may be about; properties and body may name them. */
export function subjectRows({ failure }: Variations, sample: Sample): readonly Row[] {
  const { failureProperties = {}, readProperties = failureProperties, readBody } = sample;
  const { model: _, ...withoutModel } = readProperties;
  const named = { objectId: pumpId, model: 'svc.device' };
  const refuses = (it: string, details: string, properties: Fields, ackProperties = failureProperties): Row => ({
    ...failure(properties, details),
    it,
    ackProperties,
  });
  const refusesBody = (it: string, details: string, properties: Fields, members: Fields, ack = readProperties) => {
    const row = failure(properties, details);
    return { ...row, it, body: { ...sample.body, ...members }, ack: { ...row.ack, ...readBody }, ackProperties: ack };
  };
  const models = 'property model and body.model must be the same';
  return [
    refusesBody(
      'refuses properties and body that name different objects {S15.2 S16.1}',
      'property objectId and body.objectId must be the same',
      named,
      { objectId: otherPumpId },
    ),
    refusesBody('refuses properties and body that name different models', models, named, { model: 'svc.history' }),
    refusesBody('refuses properties and body whose models differ in letter case', models, named, {
      model: 'Svc.Device',
    }),
    ...hostileObjectIds.flatMap((objectId) => [
      refuses(
        `never puts an objectId that is not a GUID into a path: ${shown(objectId)}`,
        `property objectId ${objectIdFault}`,
        { ...named, objectId },
        { model: 'svc.device' },
      ),
      refusesBody(
        `never puts an objectId of the body that is not a GUID into a path: ${shown(objectId)}`,
        `body.objectId ${objectIdFault}`,
        named,
        { objectId },
      ),
    ]),
    ...hostileModels.flatMap((model) => [
      refuses(
        `never puts a model into a path that is not one path segment: ${shown(model)}`,
        `property model ${modelFault}`,
        { ...named, model },
        withoutModel,
      ),
      refusesBody(
        `never puts a model of the body into a path that is not one path segment: ${shown(model)}`,
        `body.model ${modelFault}`,
        { ...named, model: undefined },
        { model },
        withoutModel,
      ),
    ]),
  ];
}
