// Package prepaidpg stores payments in Postgres, so that any number of processes can pay them: nobody is paid twice or left
// out, whichever of them is killed at whichever moment.
package prepaidpg
