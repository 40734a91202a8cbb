// Loaded by vitest before each test file: closes at the end of the file whatever the kit still has open.
import { afterAll } from 'vitest'
import { closeAll } from './at-end.ts'

afterAll(closeAll)
