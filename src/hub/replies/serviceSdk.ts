/**
 * Parts of `azure-iothub` that it does not export, for messages with properties, for handOver and for sdkCures, and its
 * client without the rest (D144). Only this file imports from its folders.
 */
export { Amqp as ServiceTransport } from 'azure-iothub/dist/amqp.js';
export { translateError } from 'azure-iothub/dist/amqp_service_errors.js';
export { Client } from 'azure-iothub/dist/client.js';
export { Amqp as AmqpConnection } from 'azure-iothub/dist/common-amqp/amqp.js';
export { SenderLink } from 'azure-iothub/dist/common-amqp/sender_link.js';
export { default as errors } from 'azure-iothub/dist/common-core/errors.js';
export { Message } from 'azure-iothub/dist/common-core/message.js';
