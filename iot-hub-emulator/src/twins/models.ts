import type { Registry } from '../identity/registry.ts';
import { Refusal } from '../values/refusal.ts';

/** Which model (of IoT Plug and Play) each device or module named when it connected last. */
export interface Models {
  /** A device connected and named its model, or none. Refuses a name that is none. */
  named(clientId: string, modelId: string | undefined): void;
  of(clientId: string): string | undefined;
}

// an identifier of the Digital Twins Definition Language: dtmi:com:example:Thermostat;1
const form = /^dtmi:[A-Za-z0-9_:]{1,2000}(;[0-9.]{1,20})?$/;

/** The models of all identities, in memory. */
export function createModels(registry: Registry): Models {
  const models = new Map<string, string>();
  registry.watch((change, { clientId }) => {
    if (change === 'deleted') models.delete(clientId);
  });
  return {
    named(clientId, modelId) {
      if (modelId === undefined) models.delete(clientId);
      else if (form.test(modelId)) models.set(clientId, modelId);
      else throw new Refusal('com.microsoft:argument-error', 'The id of the model is none.');
    },
    of: (clientId) => models.get(clientId),
  };
}
