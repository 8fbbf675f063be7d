// Everything for a service without keys (docs/identity.md): an IoT hub that routes its messages to an event hub to which nobody
// but the hub may send, a storage account, and the roles of the service's identity. Nothing here has a key or lists one.

@description('Beginning of all names; with the hash of the resource group they are unique.')
@minLength(3)
@maxLength(10)
param prefix string = 'devmsg'

param location string = resourceGroup().location

@description('Object id of the identity of the service: a user-assigned identity, or the one that a Kubernetes service account is federated with.')
param servicePrincipalId string

@description('Object id of the identity of the front door of remote methods; empty for none.')
param frontDoorPrincipalId string = ''

@minValue(1)
@maxValue(32)
param partitions int = 4

@description('Units of S1: each takes 100 replies a minute.')
param units int = 1

var suffix = uniqueString(resourceGroup().id)
var hubName = '${prefix}-${suffix}'
var accountName = toLower('${replace(prefix, '-', '')}${suffix}')
var roles = {
  eventHubsDataSender: '2b629674-e913-4c01-ae53-ef4638d8f975'
  eventHubsDataReceiver: 'a638d3c7-ab3a-418d-83e6-5f17a39d4fde'
  storageBlobDataContributor: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
  storageBlobDataReader: '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1'
  storageBlobDelegator: 'db58b8e5-c6ad-4a2a-8342-4190687cbf4a'
}

// The hub's own identity. It exists before the hub, so that its role is there when the route begins.
resource hubIdentity 'Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31' = {
  name: '${hubName}-sender'
  location: location
}

resource namespace 'Microsoft.EventHub/namespaces@2024-01-01' = {
  name: '${hubName}-events'
  location: location
  sku: {
    name: 'Standard'
    tier: 'Standard'
    capacity: 1
  }
  properties: {
    disableLocalAuth: true // no shared access key of this namespace is accepted
    minimumTlsVersion: '1.2'
  }
}

resource events 'Microsoft.EventHub/namespaces/eventhubs@2024-01-01' = {
  parent: namespace
  name: 'device-messages'
  properties: {
    partitionCount: partitions
    messageRetentionInDays: 7
  }
}

resource consumerGroup 'Microsoft.EventHub/namespaces/eventhubs/consumergroups@2024-01-01' = {
  parent: events
  name: 'device-messaging'
}

// The only right to send. Roles of the namespace, the resource group and the subscription are inherited: see docs/identity.md.
resource hubMaySend 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(events.id, hubIdentity.id, roles.eventHubsDataSender)
  scope: events
  properties: {
    principalId: hubIdentity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.eventHubsDataSender)
  }
}

resource serviceMayReceive 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(events.id, servicePrincipalId, roles.eventHubsDataReceiver)
  scope: events
  properties: {
    principalId: servicePrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.eventHubsDataReceiver)
  }
}

resource hub 'Microsoft.Devices/IotHubs@2023-06-30' = {
  name: hubName
  location: location
  sku: {
    name: 'S1'
    capacity: units
  }
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${hubIdentity.id}': {}
    }
  }
  properties: {
    disableLocalAuth: true // no key of a shared access policy is accepted; devices keep their own credentials
    minTlsVersion: '1.2'
    eventHubEndpoints: {
      events: {
        partitionCount: partitions
        retentionTimeInDays: 1
      }
    }
    routing: {
      endpoints: {
        eventHubs: [
          {
            name: 'device-messages'
            authenticationType: 'identityBased'
            identity: {
              userAssignedIdentity: hubIdentity.id
            }
            endpointUri: 'sb://${namespace.name}.servicebus.windows.net'
            entityPath: events.name
            resourceGroup: resourceGroup().name
            subscriptionId: subscription().subscriptionId
          }
        ]
      }
      routes: [
        {
          name: 'device-messages'
          source: 'DeviceMessages'
          condition: 'true'
          endpointNames: [
            'device-messages'
          ]
          isEnabled: true
        }
      ]
      fallbackRoute: {
        name: '$fallback'
        source: 'DeviceMessages'
        condition: 'true'
        endpointNames: [
          'events'
        ]
        isEnabled: true
      }
    }
  }
  dependsOn: [
    hubMaySend
  ]
}

// The smallest role for replies and methods: the built-in one may also change the registry and the twins.
resource messagesAndMethods 'Microsoft.Authorization/roleDefinitions@2022-04-01' = {
  name: guid(resourceGroup().id, 'device-messaging')
  properties: {
    roleName: 'Device messaging ${suffix}'
    description: 'Send messages to devices, and invoke their methods.'
    type: 'CustomRole'
    assignableScopes: [
      resourceGroup().id
    ]
    permissions: [
      {
        dataActions: [
          'Microsoft.Devices/IotHubs/cloudToDeviceMessages/send/action'
          'Microsoft.Devices/IotHubs/directMethods/invoke/action'
        ]
      }
    ]
  }
}

// Both programs may have one identity.
var callers = union([servicePrincipalId], filter([frontDoorPrincipalId], id => !empty(id)))

resource mayCallDevices 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for id in callers: {
    name: guid(hub.id, id, messagesAndMethods.id)
    scope: hub
    properties: {
      principalId: id
      principalType: 'ServicePrincipal'
      roleDefinitionId: messagesAndMethods.id
    }
  }
]

resource account 'Microsoft.Storage/storageAccounts@2023-05-01' = {
  name: take(accountName, 24)
  location: location
  sku: {
    name: 'Standard_ZRS'
  }
  kind: 'StorageV2'
  properties: {
    allowSharedKeyAccess: false
    allowBlobPublicAccess: false
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2023-05-01' = {
  parent: account
  name: 'default'
}

resource stores 'Microsoft.Storage/storageAccounts/blobServices/containers@2023-05-01' = [
  for name in ['checkpoints', 'dead-letters']: {
    parent: blobs
    name: name
  }
]

resource serviceMayStore 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (name, i) in ['checkpoints', 'dead-letters']: {
    name: guid(stores[i].id, servicePrincipalId, roles.storageBlobDataContributor)
    scope: stores[i]
    properties: {
      principalId: servicePrincipalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.storageBlobDataContributor)
    }
  }
]

resource files 'Microsoft.Storage/storageAccounts/blobServices/containers@2023-05-01' = if (!empty(frontDoorPrincipalId)) {
  parent: blobs
  name: 'method-files'
}

resource doorMayRead 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(frontDoorPrincipalId)) {
  name: guid(account.id, frontDoorPrincipalId, roles.storageBlobDataReader)
  scope: files
  properties: {
    principalId: frontDoorPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.storageBlobDataReader)
  }
}

// A key that signs for files is lent by the account, not by a container.
resource doorMaySign 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(frontDoorPrincipalId)) {
  name: guid(account.id, frontDoorPrincipalId, roles.storageBlobDelegator)
  scope: account
  properties: {
    principalId: frontDoorPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.storageBlobDelegator)
  }
}

output HUB_HOST_NAME string = hub.properties.hostName
output HUB_EVENTS_NAMESPACE string = '${namespace.name}.servicebus.windows.net'
output HUB_EVENTS_NAME string = events.name
output HUB_CONSUMER_GROUP string = consumerGroup.name
output STORE_ACCOUNT_URL string = account.properties.primaryEndpoints.blob
output METHODS_FILES_CONTAINER string = empty(frontDoorPrincipalId) ? '' : files.name
