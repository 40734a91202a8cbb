// The connection of an instance to its network: its state, and the steps to connect.
import { useState } from 'react'
import { ConnectInstanceDocument } from '../generated/instances/graphql.ts'
import { ask } from '../graph/request.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { CopyButton } from '../ui/copy.tsx'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Time } from '../ui/time.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import styles from './instances.module.css'
import { QrCode } from './qr-code.tsx'
import type { ShownInstance } from './shown-instance.ts'
import { text } from './words.ts'

export function Connection({ instance, again }: { instance: ShownInstance; again: () => void }) {
  const { team } = useWorkspace()
  const { id, provider, waNumber, state } = instance
  // Kept here, because the other tab takes the place of the field.
  const [number, setNumber] = useState('')
  const connect = useTask(async (phone: string | null) => {
    await ask(team, ConnectInstanceDocument, { id, phone })
    again()
  })
  const connected = state.status === 'connected'
  return (
    <section className={parts.panel} aria-label={text.connection}>
      <div className={parts.panelHead}>
        <h2>{text.connection}</h2>
        <span role="status">{words.instanceStatus[state.status]}</span>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        {connected && <p>{text.connectedAs(waNumber ?? '')}</p>}
        <Facts instance={instance} />
        <Refusal error={connect.error} />
        {!connected && (
          <div className={parts.row}>
            <button
              type="button"
              className={`${parts.button} ${parts.main}`}
              disabled={connect.running}
              onClick={() => connect.run(null)}
            >
              {text.connect}
            </button>
          </div>
        )}
        {!connected && provider === 'web' && (
          <Tabs
            name={text.pairing}
            tabs={[
              {
                title: text.byQr,
                panel: state.qr ? <QrCode text={state.qr} /> : <p className={parts.hint}>{text.noQr}</p>,
              },
              {
                title: text.byCode,
                panel: (
                  <form
                    className={parts.stack}
                    noValidate
                    onSubmit={submits((fields: FormData) => void connect.run(String(fields.get('phone'))))}
                  >
                    <TextField
                      label={text.phone}
                      name="phone"
                      type="tel"
                      autoComplete="off"
                      value={number}
                      onChange={(event) => setNumber(event.target.value)}
                      issues={connect.issues}
                    />
                    <div className={parts.row}>
                      <button type="submit" className={parts.button} disabled={connect.running}>
                        {text.askForCode}
                      </button>
                    </div>
                    {state.pairingCode && (
                      <p>
                        <strong className={styles.code}>{state.pairingCode}</strong> <CopyButton text={state.pairingCode} />
                      </p>
                    )}
                  </form>
                ),
              },
            ]}
          />
        )}
      </div>
    </section>
  )
}

function Facts({ instance: { provider, callbackUrl, verifyToken, state } }: { instance: ShownInstance }) {
  const { lastConnectedAt, lastDisconnectedAt, lastError } = state
  return (
    <dl className={parts.facts}>
      <dt>{text.network}</dt>
      <dd>{text.networks[provider]}</dd>
      {lastConnectedAt && (
        <>
          <dt>{text.lastConnected}</dt>
          <dd>
            <Time at={lastConnectedAt} exact />
          </dd>
        </>
      )}
      {lastDisconnectedAt && (
        <>
          <dt>{text.lastDisconnected}</dt>
          <dd>
            <Time at={lastDisconnectedAt} exact />
          </dd>
        </>
      )}
      {lastError && (
        <>
          <dt>{text.lastError}</dt>
          <dd>{lastError}</dd>
        </>
      )}
      {callbackUrl && (
        <>
          <dt>{text.callback}</dt>
          <dd>
            {callbackUrl} <CopyButton text={callbackUrl} />
          </dd>
        </>
      )}
      {verifyToken && (
        <>
          <dt>{text.verifyToken}</dt>
          <dd>
            {verifyToken} <CopyButton text={verifyToken} />
          </dd>
        </>
      )}
    </dl>
  )
}
