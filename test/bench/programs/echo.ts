import rhea from 'rhea';
import { receive, send } from './bareHub.ts';

/** Answers each message at once over bare rhea, asking nobody. */

const body = rhea.message.data_section(Buffer.from('{"success":true}'));

receive(({ message_annotations: annotations = {}, application_properties: properties = {} }) => {
  send({
    to: `/devices/${annotations['iothub-connection-device-id']}/messages/devicebound`,
    application_properties: { msgType: 'ack', correlationId: properties['correlationId'] },
    body,
  });
});
process.send?.('ready');
