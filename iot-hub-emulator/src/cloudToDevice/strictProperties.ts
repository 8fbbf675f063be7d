import type { Message } from '../values/message.ts';

// IoT Hub documents these for property names and values of cloud-to-device messages; its services do not always insist
const propertyText = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]*$/;
const idText = /^[A-Za-z0-9\-:.+%_#*?!(),=@;$']{0,128}$/;

/** Whether every property of a cloud-to-device message keeps to the documented characters (C2). */
export function strictlyValid({ system, properties }: Message): boolean {
  const texts = Object.entries(properties).flat();
  const ids = [system.messageId ?? '', system.correlationId ?? ''];
  return texts.every((text) => propertyText.test(text)) && ids.every((id) => idText.test(id));
}
