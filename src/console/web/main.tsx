// Starts the console: asks for a token and the words at the same time, then shows the page of the address.
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import './ui/tokens.css'
import './ui/base.css'
import './double-click.ts'
import { reloadForNewChunks } from './page-chunk.tsx'
import { preference } from './preferences.ts'
import './session/mail-token.ts'
import { router } from './routes.tsx'
import { startSession } from './session/session.ts'
import { settings } from './settings.ts'
import { chosenLanguage, loadWords } from './words/words.ts'

reloadForNewChunks()

/** Pages for people who are not signed in. A request for a token would be refused to most of their readers. */
const isPublic = /\/(sign-in|sign-up|reset-password|verify-email)$/.test(location.pathname.slice(settings.base.length))

await Promise.all([loadWords(chosenLanguage()), startSession(!isPublic || preference('known') !== null)])
createRoot(document.getElementById('root') as HTMLElement).render(<RouterProvider router={router} />)
